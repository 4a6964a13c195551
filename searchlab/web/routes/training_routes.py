"""Routes of training: models and training jobs."""

from __future__ import annotations

from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.judging import judge
from searchlab.web.api.parameters import (
    INDEX,
    JUDGE,
    TOPIC_SET,
)
from searchlab.web.api.training import model_list, models, train
from searchlab.web.pages.judging.topic_page import ANY_CHANGE
from searchlab.web.pages.page import Form, Page
from searchlab.web.pages.training import training_forms
from searchlab.web.pages.training.model_page import model_page
from searchlab.web.pages.training.models_page import models_page
from searchlab.web.pages.training.train_page import DELETED_MODEL, train_page

TRAINING = (
    INDEX,
    TOPIC_SET,
    train.RANKER,
    train.RECIPE,
    train.PRIOR,
    train.FEATURES,
    train.MODEL_NAME,
    train.CANDIDATES,
)

MODEL_LIST = (INDEX, model_list.MODEL_WORDS, model_list.VERDICT, model_list.USE, model_list.MODEL_ORDER)

ENDPOINTS = (
    Endpoint("GET", "/api/models", models.list_models, "The models of an index, and how well they do", (INDEX,)),
    Endpoint(
        "GET",
        "/api/models/history",
        model_list.list_model_versions,
        "All models, present, former and deleted, with their verdicts",
        MODEL_LIST,
    ),
    Endpoint(
        "POST",
        "/api/models/use",
        models.use_ranker,
        "Make a system the default ranker of the index, or BM25 again",
        (INDEX, models.RANKER_IN_USE, JUDGE),
    ),
    Endpoint(
        "POST", "/api/models/rename", models.rename_model, "Rename a model", (INDEX, models.NAME, models.NEW_NAME)
    ),
    Endpoint("POST", "/api/models/delete", models.delete_model, "Move a model to the history", (INDEX, models.NAME)),
    Endpoint("DELETE", "/api/models/{name}", models.delete_model, "Move a model to the history", (INDEX, models.NAME)),
    Endpoint(
        "POST",
        "/api/models/restore",
        models.restore_model,
        "Make a version of a model's history the model again",
        (INDEX, models.NAME, models.VERSION),
    ),
    Endpoint(
        "GET",
        "/api/readiness",
        train.check_readiness,
        "Whether a topic set has enough judgments to train on",
        (INDEX, TOPIC_SET),
    ),
    Endpoint("POST", "/api/train", train.start_training, "Train a model on judgments, in the background", TRAINING),
    Endpoint("GET", "/api/jobs", train.list_jobs, "All training jobs"),
    Endpoint("GET", "/api/jobs/{id}", train.get_job, "The progress of a training job", (train.JOB_ID,)),
    Endpoint("POST", "/api/jobs/cancel", train.cancel_job, "Stop a training job", (train.JOB_ID,)),
)

PAGES = (
    Page("/train", "train.html", "train", train_page, (INDEX, judge.ANY_TOPIC_SET, DELETED_MODEL, ANY_CHANGE)),
    Page("/models", "models.html", "train", models_page, MODEL_LIST),
    Page("/model", "model.html", "train", model_page, (INDEX, models.NAME, models.VERSION)),
)

FORMS = (
    Form("/train", training_forms.train_form, TRAINING, field="topic_set"),
    Form("/use", training_forms.use_form, (INDEX, models.RANKER_IN_USE)),
    Form("/model/rename", training_forms.rename_model_form, (INDEX, models.NAME, models.NEW_NAME), field="new_name"),
    Form("/model/delete", training_forms.delete_model_form, (INDEX, models.NAME)),
    Form("/model/restore", training_forms.restore_model_form, (INDEX, models.NAME, models.VERSION)),
    Form("/dismiss", training_forms.dismiss_form, (INDEX, models.NAME)),
    Form("/cancel", training_forms.cancel_form, (train.JOB_ID,)),
)
