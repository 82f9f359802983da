# SPDX-License-Identifier: Apache-2.0
# Which engines of `cubby bench` are ours, and which rows are the best.
OURS = {"dlht", "dramhit", "dramhit-pipe", "dramhit-tuples", "iceberg", "iceberg-full", "iceberg-wide", "partitioned", "relativistic", "seph"}
NOT_RANKED = {"limit", "limit-swap"}


def fastest(rows):
    return max(rows, key=lambda row: row["median_mops"], default=None)


def best(rows, ours):
    """The best of ours, or of the others; None if there is none."""
    return fastest(row for row in rows if row["engine"] not in NOT_RANKED and (row["engine"] in OURS) == ours)
