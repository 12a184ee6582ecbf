"""Units that models and people coded: the worked example of docs/coding.md, and two for oracles."""

import numpy as np


def example():
    """Design, two proxies, codes of people, chances and sessions of 48 units in 12 sessions."""
    i = np.arange(48)
    session = i // 4
    t = session % 2
    first, second = 7 * i % 5, (11 * i % 7) / 2
    y = 0.6 * first + 0.3 * second + (3 * i % 4) / 2 + 0.4 * t + 0.25 * (session % 3)
    chance = np.where(t == 1, 0.75, 0.5)
    drawn = np.where(t == 1, 5 * i % 8 < 6, 5 * i % 8 < 4)
    x = np.column_stack([np.ones(48), t])
    return x, np.column_stack([first, second]), np.where(drawn, y, np.nan), chance, session


def equal_chances():
    """Design, one proxy and codes of people on half of 60 units of two treatments."""
    i = np.arange(60)
    t = i % 2
    proxy = (7 * i % 11) / 3
    y = 0.7 * proxy + 0.5 * t + (5 * i % 7) / 4
    return np.column_stack([np.ones(60), t]), proxy, np.where(i // 2 % 2 == 0, y, np.nan)


def whole_clusters():
    """One proxy, codes of people on the first eight of twenty clusters of five, the clusters."""
    i = np.arange(100)
    cluster = i // 5
    proxy = (7 * i % 11) / 3 + 0.3 * (cluster % 4)
    y = 0.7 * proxy + (5 * i % 7) / 4
    return proxy, np.where(cluster < 8, y, np.nan), cluster
