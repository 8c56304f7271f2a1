"""Runs engines on models and workloads, and writes down what they did."""
