"""What a report of ratings says of the ratings that it pools."""

from rich.console import Console

from delibsim.analysis.debates.pooled import Pooled
from delibsim.cli.terminal import safe


def print_pooled(pooled: Pooled, screen: Console) -> None:
    """Print whose ratings are pooled, and what speaks against pooling them."""
    parts = [f"{name} ({share.described})" for name, share in pooled.shares.items()]
    whose = safe(", ".join(parts)) or "nobody"
    end = ", pooled" if len(parts) > 1 else ""
    screen.print(f"Ratings of {whose}{end}", soft_wrap=True)
    print_warnings(pooled, screen)


def print_warnings(pooled: Pooled, screen: Console) -> None:
    """Print what speaks against pooling."""
    for line in pooled.warnings:
        screen.print(safe(f"warning: {line}"), soft_wrap=True)
