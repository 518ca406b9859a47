"""Compiled code of taggers: features of words, files of tokens, and best paths of tags."""
