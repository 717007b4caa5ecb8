"""Beside the student's code, when it is graded: call the answer and hand its results over as data.

Nothing here says right or wrong, and nothing that it says is believed: the grader, in a process of its own,
compares the data with a reference that this process cannot read.
"""

import json
import sys

from plaincourse.exercises._answers import Problem, by_hand, run

from .codec import decode, encode


def prepare(shell):
    """Before the first of the student's cells.

    quit() would end the kernel some time after its cell; so it is an error in its cell. What came with the
    notebook can be imported only now, so that no file of it stands for one of Python's or of the course's.
    """
    shell.ask_exit = sys.exit
    sys.path.insert(0, "")


def show(namespace, asked, kind):
    """Display the results that the grader asks for, as data of this kind. asked: the arguments of `results`
    after the first, as JSON.
    """
    from IPython.display import display

    display({kind: results(namespace, *json.loads(asked))}, raw=True)


def results(namespace, name, wants_value, argument_names, groups):
    """What the answer of this name gives: for each group of cases its status, with a message or with encoded
    values.

    namespace: the notebook's. wants_value: the answer is a value, not a function. groups: lists of encoded
    cases.
    """
    return [obtained(namespace, name, wants_value, argument_names, group) for group in groups]


def obtained(namespace, name, wants_value, argument_names, group):
    """The result for one group of cases."""
    try:
        if name not in namespace:
            raise Problem(
                "not attempted", f"The notebook defines no {name}. Did its cell stop with an error?"
            )
        answer = namespace[name]
        values = (
            [by_hand(answer)]
            if wants_value
            else run(argument_names, answer, [decode(case) for case in group])
        )
        return {"status": "ran", "values": [encode(taken(value)) for value in values]}
    except Problem as problem:
        status, message = problem.args
        return {"status": status, "message": message}
    except Exception as error:
        return {"status": "wrong", "message": f"Your result cannot be read: {str(error)[:300]}."}


def taken(value):
    """The value as it can be compared: a tensor as the array of its numbers."""
    if type(value).__module__.partition(".")[0] == "torch":
        return value.detach().cpu().numpy()
    return value
