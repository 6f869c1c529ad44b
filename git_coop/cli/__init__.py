"""The command line: one module a family; words in, one call of the core, one rendering out."""
