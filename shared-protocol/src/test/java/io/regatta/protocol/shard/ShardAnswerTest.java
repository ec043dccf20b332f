package io.regatta.protocol.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.tensor.ExportRows;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Answers that are complete, and whose result cannot be made or must wait. */
class ShardAnswerTest {
  private static final TensorMessage LAST = TensorMessage.newBuilder().setChunkCount(1)
      .setExportRows(ExportRows.newBuilder().setLast(true)).build();

  @Test
  void a_result_that_cannot_be_made_is_not_lost() {
    OutOfMemoryError none = new OutOfMemoryError("test");
    ShardAnswer<Long> answer = new ShardAnswer<>(BodyCase.PUSH_ACK, StreamOptions.defaults(), a -> {
      throw none;
    }, null);
    answer.begin(LAST, 0);
    assertThat(answer.end()).isTrue();
    assertThatThrownBy(answer::complete).isSameAs(none);
    answer.fail(none);
    assertThat(answer.future().cause()).isSameAs(none);
  }

  @Test
  void it_is_there_when_the_last_slice_has_been_taken() {
    CompletableFuture<Void> taken = new CompletableFuture<>();
    ShardAnswer<Long> answer = new ShardAnswer<>(BodyCase.EXPORT_ROWS, StreamOptions.defaults(), a -> 7L, a -> taken);
    answer.begin(LAST, 0);
    assertThat(answer.end()).isTrue();
    answer.complete();
    assertThat(answer.future().isComplete()).isFalse();
    taken.complete(null);
    assertThat(answer.future().result()).isEqualTo(7);
  }
}
