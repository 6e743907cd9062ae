"""Fills a look-up table of Helenus with Spark, and verifies it. Written by `helenus bulk`; see docs/bulk.md.

    spark-submit --packages com.datastax.spark:spark-cassandra-connector_2.12:3.5.1 \
        --conf spark.cassandra.connection.host=10.0.0.1 THIS_FILE

It may be run again, at any time, as often as you like: an entry has the timestamp of the cell that it stands for. It
ends with 0 if every row has its entry, with 1 if rows are left without, and prints a line that begins with
"helenus-bulk:" in any case.
"""

import json
import sys
import time

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

JOB = {}

CASSANDRA = "org.apache.spark.sql.cassandra"
ATTEMPTS = 4  # how often rows without entry are looked at again: the application goes on writing
PAUSE = 5  # seconds in between

VALUE = [JOB["column"]] + JOB["key"]
AT, TTL = "helenus_at", "helenus_ttl"


def read(spark, table):
    return spark.read.format(CASSANDRA).options(keyspace=table["keyspace"], table=table["table"]).load()


def base(spark):
    """The rows of the base that are to have an entry of their own, with the timestamp and the seconds left of the cell."""
    column = JOB["column"]
    rows = read(spark, JOB["base"]).select(
        *VALUE, F.expr("writetime(`%s`)" % column).alias(AT), F.expr("ttl(`%s`)" % column).alias(TTL)
    )
    rows = rows.where(F.col(column).isNotNull())
    if JOB["text"]:
        rows = rows.where(F.octet_length(column).between(1, JOB["max_value_bytes"]))
    if JOB["varying_key"]:
        # The keys that have no room, and the one that stands for these, are left to Helenus.
        length = sum((F.octet_length(name) for name in JOB["varying_key"]), F.lit(0))
        rows = rows.where((length > 0) & (length + JOB["fixed_key_bytes"] <= JOB["max_key_bytes"]))
    return rows


def entries(rows):
    """The entries of rows."""
    left = F.col(TTL).cast("long")
    longer = left + JOB["margin_seconds"]
    if JOB["entries_expire"]:
        ttl = F.when(
            (left > 0) & (longer <= JOB["max_ttl"]) & (F.unix_timestamp() + longer <= JOB["last_second"]), longer
        ).otherwise(F.lit(0))
    else:
        ttl = F.lit(0)
    own = JOB["own"]
    return rows.select(
        *VALUE,
        F.lit(JOB["entry_kind"]).cast("byte").alias(own["kind"]),
        F.lit(JOB["entry_id"]).cast("long").alias(own["id"]),
        F.lit(True).alias(own["written"]),
        F.col(AT).cast("long").alias(AT),
        ttl.cast("int").alias(TTL),
    )


def fill(spark):
    """Writes all entries, and returns how many."""
    seen = Observation("entries")
    written = entries(base(spark)).observe(seen, F.count(F.lit(1)).alias("rows"))
    written.write.format(CASSANDRA).options(
        keyspace=JOB["look_up"]["keyspace"], table=JOB["look_up"]["table"], writetime=AT, ttl=TTL
    ).mode("append").save()
    return seen.get["rows"]


def without(spark, rows):
    """Those of some rows that have no entry."""
    have = read(spark, JOB["look_up"]).select(*VALUE).distinct()
    return rows.join(have, on=VALUE, how="left_anti")


def verify(spark):
    """Returns how many rows have no entry, while the base shows the same cell before and after."""
    left = without(spark, base(spark).select(*VALUE, AT)).persist()
    for _ in range(ATTEMPTS):
        if left.count() == 0:
            break
        time.sleep(PAUSE)
        again = without(spark, base(spark).select(*VALUE, AT).join(left, on=VALUE + [AT], how="left_semi")).persist()
        again.count()
        left.unpersist()
        left = again
    return left.count()


def main():
    spark = (
        SparkSession.builder.appName("helenus bulk " + JOB["change"])
        .config("spark.sql.extensions", "com.datastax.spark.connector.CassandraSparkExtensions")
        .config("spark.sql.caseSensitive", "true")
        .config("spark.cassandra.input.consistency.level", JOB["read_consistency"])
        .config("spark.cassandra.output.consistency.level", JOB["write_consistency"])
        .getOrCreate()
    )
    report = {"change": JOB["change"]}
    began = time.time()
    report["entries"] = fill(spark)
    report["fill_seconds"] = round(time.time() - began, 1)
    began = time.time()
    report["missing"] = verify(spark)
    report["verify_seconds"] = round(time.time() - began, 1)
    print("helenus-bulk: " + json.dumps(report), flush=True)
    spark.stop()
    sys.exit(1 if report["missing"] else 0)


if __name__ == "__main__":
    main()
