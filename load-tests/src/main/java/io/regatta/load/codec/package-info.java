/** Streams without an end and without a shard, for the benchmark of the codec. {@code CodecBenchmark} calls it. */
package io.regatta.load.codec;
