package io.regatta.load;

import static org.openjdk.jmh.annotations.Mode.*;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark of a rank's work on the elements of one message of a collective call. The steps are from the vector to
 * the wire, from the wire into the vector, and the rounding of a sum to the values that the others get. The message has
 * 65,536 elements about 1e-4, as gradients have. About half of them are below 2^-14, where halves are subnormal.
 */
@State(Scope.Benchmark)
@BenchmarkMode(AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WireBenchmark {

  static final int ELEMENTS = 1 << 16;

  @Param({"FLOAT32", "FLOAT16", "BFLOAT16"})
  public WireType wire = WireType.FLOAT32;

  private final Tensor.Workspace workspace = new Tensor.Workspace();
  private Tensor tensor;
  private ByteBuffer message;

  @Setup
  public void fill() {
    Random random = new Random(1);
    ByteBuffer memory = ByteBuffer.allocateDirect(ELEMENTS * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    while (memory.hasRemaining()) {
      memory.putFloat((float) (random.nextGaussian() * 1e-4));
    }
    tensor = Tensor.of(memory.flip()).on(wire);
    message = ByteBuffer.allocateDirect(ELEMENTS * wire.bytes());
    encode();
  }

  @Benchmark
  public ByteBuffer encode() {
    tensor.encode(0, ELEMENTS, message.clear(), workspace);
    return message;
  }

  /** Replaces the vector's values by those of the message. */
  @Benchmark
  public Tensor copy() {
    tensor.copy(0, message.clear(), workspace);
    return tensor;
  }

  /** Takes the greater of both, so that the vector stays the same in every call. */
  @Benchmark
  public Tensor greatest() {
    tensor.reduce(ReduceOp.MAX, 0, message.clear(), workspace);
    return tensor;
  }

  /** Adds, so that the sum grows by the same from call to call. */
  @Benchmark
  public Tensor sum() {
    tensor.reduce(ReduceOp.SUM, 0, message.clear(), workspace);
    return tensor;
  }

  /** Rounds to the values that the others get. */
  @Benchmark
  public Tensor complete() {
    tensor.complete(ReduceOp.SUM, 2, 0, ELEMENTS, workspace);
    return tensor;
  }
}
