"""Workers that are asked without a cluster."""


def answering(*answers):
    """Workers that answer so, whatever they are asked."""
    return lambda function, *arguments: {f"tcp://w{number}:1": answer for number, answer in enumerate(answers)}
