"""What can be done to judgments: each function takes a Collection and gives a new one.

Nothing is read again; steps can be chained, each leaves a line in `.history`.
"""
