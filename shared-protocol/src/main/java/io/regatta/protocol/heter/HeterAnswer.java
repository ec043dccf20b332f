package io.regatta.protocol.heter;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.stream.request.PendingAnswer;
import io.regatta.protocol.tensor.HeterFrame.KindCase;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.function.Function;

/** One request of a {@link HeterLink} that waits for its answer. Owned by the stream's loop. */
final class HeterAnswer<T> extends PendingAnswer<T> {
  private final KindCase kind;
  private final Function<TensorMessage, HeterAssembly> begin;
  private final Function<HeterAssembly, T> result;
  private HeterAssembly assembly;

  /**
   * Creates the answer of a request that has just been made.
   *
   * @param begin begins the assembly of the answer by its first chunk
   * @param result makes the result from the whole answer
   */
  HeterAnswer(KindCase kind, Function<TensorMessage, HeterAssembly> begin, Function<HeterAssembly, T> result) {
    this.kind = kind;
    this.begin = begin;
    this.result = result;
  }

  @Override
  protected String kind() {
    return kind.name();
  }

  @Override
  protected boolean isAnsweredBy(TensorMessage header) {
    return assembly != null || header.getHeter().getKindCase() == kind;
  }

  @Override
  protected void begin(TensorMessage header, int payloadBytes) {
    if (assembly == null) {
      assembly = begin.apply(header);
    }
    assembly.begin(header, payloadBytes);
  }

  @Override
  protected void payload(ByteBuf bytes) {
    assembly.payload(bytes);
  }

  @Override
  protected boolean end() {
    return assembly.end();
  }

  @Override
  protected void complete() {
    assembly.giveBack();
    complete(result.apply(assembly));
  }
}
