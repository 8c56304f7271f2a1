"""Codecs of K/V, one kind a file: adding one is adding that file. The file's name is the kind's."""
