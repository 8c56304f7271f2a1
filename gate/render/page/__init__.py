"""Reports as a page for reviewers."""
