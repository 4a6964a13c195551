"""Archives (zip, tar) whose entries are read as files, without unpacking them to disk."""
