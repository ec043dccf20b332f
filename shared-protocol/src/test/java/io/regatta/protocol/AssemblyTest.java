package io.regatta.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.shard.Contributor;
import io.regatta.core.shard.Pull;
import io.regatta.core.shard.Pulled;
import io.regatta.core.shard.Push;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Requests cut into chunks and put together again are the same requests; anything else is refused. */
class AssemblyTest {
  private static final TensorMessage.Builder COMMON = TensorMessage.newBuilder().setJob("census").setRank(1);

  @Property(tries = 200)
  void a_push_survives_any_chunk_size(@ForAll @IntRange(min = 16, max = 4000) int chunkBytes,
      @ForAll @IntRange(min = -1, max = 3000) int dense, @ForAll @IntRange(max = 300) int rowsA,
      @ForAll @IntRange(max = 300) int rowsB) {
    Push push = new Push(List.of(new Contributor(1, 9, 4, 32), new Contributor(2, 8, 4, 16)), 77, 5,
        dense < 0 ? null : floats(dense), List.of(rows("a", rowsA, 3), rows("b", rowsB, 1)));
    Push back = ShardCodec.push(whole(ShardCodec.push(COMMON, 12, push, chunkBytes)));
    assertThat(back.contributors()).isEqualTo(push.contributors());
    assertThat(back.step()).isEqualTo(77);
    assertThat(back.version()).isEqualTo(5);
    assertThat(back.dense()).isEqualTo(push.dense());
    assertSame(back.sparse(), push.sparse());
  }

  @Property(tries = 200)
  void an_answer_keeps_the_order_of_its_tables(@ForAll @IntRange(min = 16, max = 2000) int chunkBytes,
      @ForAll @IntRange(max = 200) int rows) {
    // A table may occur twice: as asked for, and as changed.
    Pulled pulled = new Pulled(3, rows % 2 == 0 ? null : floats(rows), List.of(rows("a", rows, 2), rows("b", 0, 2),
        rows("a", 7, 2)));
    Pulled back = ShardCodec.values(whole(ShardCodec.values(COMMON, 1, pulled, chunkBytes)));
    assertThat(back.version()).isEqualTo(3);
    assertThat(back.dense()).isEqualTo(pulled.dense());
    assertSame(back.sparse(), pulled.sparse());
    Pull pull = new Pull(1, 9, true, List.of(new SparseIds("a", ids(rows)), new SparseIds("b", ids(2))), true);
    Pull wish = ShardCodec.pull(whole(ShardCodec.pull(COMMON, 1, pull, chunkBytes)));
    assertThat(wish.sparse().get(0).ids()).isEqualTo(ids(rows));
    assertThat(wish.sparse().get(1).ids()).isEqualTo(ids(2));
    assertThat(wish.dense()).isTrue();
    assertThat(wish.changed()).isTrue();
  }

  @Test
  void a_chunk_out_of_order_is_refused_and_named() {
    List<TensorFrame> frames = frames(ShardCodec.push(COMMON, 1, new Push(List.of(), 3, 0, floats(100), List.of()), 64));
    Assembly a = new Assembly(frames.get(0).header(), new ByteBudget(1 << 20));
    a.add(frames.get(0));
    assertThatThrownBy(() -> a.add(frames.get(2))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("job 'census'").hasMessageContaining("rank 1").hasMessageContaining("step 3")
        .hasMessageContaining("chunk 1 of 7 of a PUSH was expected");
  }

  @Test
  void totals_beyond_the_limit_are_refused_before_anything_is_allocated() {
    TensorMessage huge = COMMON.clone().setChunkCount(1).setTotal(1L << 40).build();
    assertThatThrownBy(() -> new Assembly(huge, new ByteBudget(1 << 20)).add(TensorFrame.of(huge))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("max_request_bytes");
    TensorMessage negative = COMMON.clone().setChunkCount(1).setTable("t").setTotal(-1).build();
    assertThatThrownBy(() -> new Assembly(negative, new ByteBudget(1 << 20)).add(TensorFrame.of(negative)))
        .isInstanceOf(InvalidInput.class);
  }

  @Property(tries = 500)
  void no_header_of_any_kind_breaks_more_than_its_request(@ForAll @IntRange(min = -3, max = 9) int rows,
      @ForAll @IntRange(min = -3, max = 9) int dim, @ForAll @IntRange(min = -3, max = 40) int total,
      @ForAll @IntRange(min = -3, max = 9) int offset, @ForAll @IntRange(max = 200) int bytes, @ForAll boolean sparse) {
    TensorMessage h = COMMON.clone().setChunkCount(1).setTable(sparse ? "t" : "").setRowCount(rows).setDim(dim)
        .setTotal(total).setOffset(offset).build();
    Assembly a = new Assembly(h, new ByteBudget(1 << 20));
    try {
      a.add(new TensorFrame(h, ByteBuffer.allocate(bytes)));
      // What was accepted is complete and consistent.
      a.rows().forEach(r -> assertThat(r.values()).hasSize(r.ids().length * dim));
    } catch (InvalidInput e) {
      assertThat(e.getMessage()).contains("census");
    }
  }

  private static Assembly whole(Iterator<Outgoing> frames) {
    List<TensorFrame> list = frames(frames);
    Assembly a = new Assembly(list.get(0).header(), new ByteBudget(64 << 20));
    for (int i = 0; i < list.size(); i++) {
      assertThat(a.add(list.get(i))).isEqualTo(i == list.size() - 1);
    }
    return a;
  }

  private static List<TensorFrame> frames(Iterator<Outgoing> frames) {
    List<TensorFrame> list = new ArrayList<>();
    frames.forEachRemaining(o -> list.add(o.frame()));
    return list;
  }

  private static void assertSame(List<SparseRows> actual, List<SparseRows> expected) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i).table()).isEqualTo(expected.get(i).table());
      assertThat(actual.get(i).ids()).isEqualTo(expected.get(i).ids());
      assertThat(actual.get(i).values()).isEqualTo(expected.get(i).values());
    }
  }

  private static SparseRows rows(String table, int n, int dim) {
    return new SparseRows(table, ids(n), floats(n * dim));
  }

  private static long[] ids(int n) {
    long[] ids = new long[n];
    for (int i = 0; i < n; i++) {
      ids[i] = Long.MAX_VALUE - 31L * i;
    }
    return ids;
  }

  private static float[] floats(int n) {
    float[] f = new float[n];
    for (int i = 0; i < n; i++) {
      f[i] = i * 0.25f - 3;
    }
    return f;
  }
}
