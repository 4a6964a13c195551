"""The commands, one module each; importing it adds the command to the application."""

import searchlab.cli.commands.evaluation.compare
import searchlab.cli.commands.evaluation.eval
import searchlab.cli.commands.evaluation.experiment
import searchlab.cli.commands.evaluation.fuse
import searchlab.cli.commands.evaluation.judgments
import searchlab.cli.commands.evaluation.tune
import searchlab.cli.commands.indexing.backup
import searchlab.cli.commands.indexing.delete
import searchlab.cli.commands.indexing.doctor
import searchlab.cli.commands.indexing.example
import searchlab.cli.commands.indexing.index
import searchlab.cli.commands.indexing.indexes
import searchlab.cli.commands.indexing.merge
import searchlab.cli.commands.indexing.stats
import searchlab.cli.commands.learning.features
import searchlab.cli.commands.learning.model
import searchlab.cli.commands.learning.rerank
import searchlab.cli.commands.learning.semantic
import searchlab.cli.commands.learning.topic_model
import searchlab.cli.commands.learning.train
import searchlab.cli.commands.learning.train_lm
import searchlab.cli.commands.reproduction.reproduce_letor
import searchlab.cli.commands.reproduction.reproduce_ohsumed
import searchlab.cli.commands.reproduction.reproduce_retrieval
import searchlab.cli.commands.reproduction.reproduce_simulation
import searchlab.cli.commands.search.explain
import searchlab.cli.commands.search.query
import searchlab.cli.commands.search.run
import searchlab.cli.commands.search.serve  # noqa: F401
