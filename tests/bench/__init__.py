"""The bench: what a call costs against a bare interpreter, what other programs cost, how many messages pass a second.

Standard library only. ``tests/bench/run`` starts it in an environment of its own.
"""
