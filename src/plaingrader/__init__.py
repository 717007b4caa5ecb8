"""Assign, collect and grade: for the instructor, on top of nbgrader. Students get neither this package nor
what it reads.
"""
