package io.regatta.protocol.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseBlocks;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.tensor.DType;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;
import io.regatta.protocol.testing.Messages;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Requests cut into chunks and put together again are the same requests; anything else is refused. */
class ShardAssemblyTest {
  private static final TensorMessage COMMON = TensorMessage.newBuilder().setJob("census").setRank(1).build();
  private static final TensorMessage PUSH = Messages.of(BodyCase.PUSH).mergeFrom(COMMON).build();
  private static final ShardAssembly.DenseTaker BLOCKS = (a, total) -> new DenseBlocks(total, new BlockPool());

  @Property(tries = 200)
  void a_push_survives_any_chunk_size(@ForAll @IntRange(min = 16, max = 4000) int chunkBytes,
      @ForAll @IntRange(min = -1, max = 3000) int dense, @ForAll @IntRange(max = 300) int rowsA,
      @ForAll @IntRange(max = 300) int rowsB) {
    Push push = new Push(List.of(new Contributor(1, 9, 4, 32), new Contributor(2, 8, 4, 16)), 77, 5,
        dense < 0 ? null : DenseMemory.of(floats(dense)), List.of(rows("a", rowsA, 3), rows("b", rowsB, 1)));
    Push back = ShardCodec.push(whole(ShardCodec.push(COMMON.toBuilder(), push, chunkBytes), chunkBytes));
    assertThat(back.contributors()).isEqualTo(push.contributors());
    assertThat(back.step()).isEqualTo(77);
    assertThat(back.version()).isEqualTo(5);
    assertThat(floats(back.dense())).isEqualTo(floats(push.dense()));
    assertSame(back.sparse(), push.sparse());
  }

  @Property(tries = 200)
  void an_answer_keeps_the_order_of_its_tables(@ForAll @IntRange(min = 16, max = 2000) int chunkBytes,
      @ForAll @IntRange(max = 200) int rows, @ForAll boolean changed, @ForAll boolean readOnly) {
    // A table may occur twice: as asked for, and as changed.
    Pulled pulled = new Pulled(3, rows % 2 == 0 ? null : DenseMemory.of(floats(rows)), List.of(rows("a", rows, 2), rows("b", 0, 2),
        rows("a", 7, 2)), 6);
    Pulled back = ShardCodec.values(whole(ShardCodec.values(COMMON.toBuilder(), pulled, chunkBytes, new HeapBudget(0)), chunkBytes));
    assertThat(back.version()).isEqualTo(3);
    assertThat(back.clockLead()).isEqualTo(6);
    assertThat(floats(back.dense())).isEqualTo(floats(pulled.dense()));
    assertSame(back.sparse(), pulled.sparse());
    Pull pull = new Pull(1, 9, true, List.of(new SparseIds("a", ids(rows)), new SparseIds("b", ids(2))), changed,
        readOnly);
    Pull wish = ShardCodec.pull(whole(ShardCodec.pull(COMMON.toBuilder(), pull, chunkBytes), chunkBytes));
    assertThat(wish.sparse().get(0).ids()).isEqualTo(ids(rows));
    assertThat(wish.sparse().get(1).ids()).isEqualTo(ids(2));
    assertThat(wish.dense()).isTrue();
    assertThat(wish.changed()).isEqualTo(changed);
    assertThat(wish.readOnly()).isEqualTo(readOnly);
  }

  @Test
  void an_empty_push_is_one_frame_and_tells_none_from_an_empty_dense_vector() {
    for (float[] dense : new float[][] {null, {}}) {
      List<TensorFrame> frames = frames(ShardCodec.push(COMMON.toBuilder(),
          new Push(List.of(), 3, 0, DenseMemory.of(dense), List.of()), 64));
      assertThat(frames).hasSize(1);
      assertThat(floats(ShardCodec.push(assemble(frames)).dense())).isEqualTo(dense);
    }
  }

  /** Little more is allocated than the bytes of the request: no array is made, filled and made again larger. */
  @Test
  void rows_that_come_in_pieces_are_copied_once() {
    Push push = new Push(List.of(new Contributor(1, 9, 4, 32)), 1, 0, null, List.of(rows("a", 10_000, 10)));
    TensorFrame frame = frames(ShardCodec.push(COMMON.toBuilder(), push, 1 << 20)).get(0);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long allocated = 0;
    for (int i = 0; i < 3; i++) { // the first ones load classes
      ByteBuf payload = Unpooled.wrappedBuffer(frame.read());
      ShardAssembly a = new ShardAssembly(frame.header(), new ByteBudget(1 << 20), BLOCKS);
      long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
      a.begin(frame.header(), payload.readableBytes());
      while (payload.isReadable()) {
        a.payload(payload.readSlice(Math.min(16_000, payload.readableBytes())));
      }
      assertThat(a.end()).isTrue();
      allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
      assertSame(a.rows(), push.sparse());
    }
    assertThat((double) allocated).isLessThan(1.1 * frame.read().remaining());
  }

  /** Frames dropped, repeated or exchanged: never taken as whole. */
  @Property(tries = 300)
  void no_other_sequence_of_chunks_is_a_request(@ForAll @IntRange(max = 10) int a, @ForAll @IntRange(max = 10) int b,
      @ForAll @IntRange(max = 2) int how) {
    List<TensorFrame> frames = frames(ShardCodec.push(COMMON.toBuilder(),
        new Push(List.of(), 3, 0, DenseMemory.of(floats(60)), List.of(rows("a", 10, 2), rows("b", 20, 1))), 64));
    assertThat(frames).hasSize(11);
    List<TensorFrame> other = new ArrayList<>(frames);
    switch (how) {
      case 0 -> other.remove(a);
      case 1 -> other.add(a, frames.get(b));
      default -> Collections.swap(other, a, b);
    }
    if (other.equals(frames)) {
      return;
    }
    ShardAssembly assembly = new ShardAssembly(other.get(0).header(), new ByteBudget(1 << 20), BLOCKS);
    boolean refused = false;
    boolean whole = false;
    for (int i = 0; i < other.size() && !refused && !whole; i++) {
      try {
        whole = add(assembly, other.get(i));
      } catch (InvalidInput e) {
        refused = true;
      }
    }
    // Behind a whole request there may be a chunk too many: to the stream it begins the next one, and is refused there.
    assertThat(!whole || other.subList(0, frames.size()).equals(frames)).isTrue();
  }

  @Test
  void a_chunk_out_of_order_is_refused_and_named() {
    List<TensorFrame> frames = frames(ShardCodec.push(COMMON.toBuilder(),
        new Push(List.of(), 3, 0, DenseMemory.of(floats(100)), List.of()), 64));
    ShardAssembly a = new ShardAssembly(frames.get(0).header(), new ByteBudget(1 << 20), BLOCKS);
    add(a, frames.get(0));
    assertThatThrownBy(() -> add(a, frames.get(2))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("job 'census'").hasMessageContaining("rank 1").hasMessageContaining("step 3")
        .hasMessageContaining("chunk 1 of 7 of a PUSH was expected");
  }

  /** The content of such a payload is unknown. */
  @Test
  void a_payload_without_a_slice_is_refused() {
    assertThatThrownBy(() -> add(PUSH, 4, 1 << 20)).isInstanceOf(InvalidInput.class).hasMessageContaining("4 bytes comes without");
    TensorMessage unnamed = PUSH.toBuilder().setRows(Messages.rows("", 1, 1)).build();
    assertThatThrownBy(() -> add(unnamed, 12, 1 << 20)).isInstanceOf(InvalidInput.class).hasMessageContaining("name of their table");
  }

  @Test
  void another_dtype_is_refused_and_named() {
    TensorMessage h = PUSH.toBuilder().setDense(DenseSlice.newBuilder().setDtypeValue(9).setTotal(1)).build();
    assertThat(h.getDense().getDtype()).isEqualTo(DType.UNRECOGNIZED);
    assertThatThrownBy(() -> add(h, 4, 1 << 20)).isInstanceOf(InvalidInput.class).hasMessageContaining("dtype 9");
  }

  @Test
  void totals_beyond_the_limit_are_refused() {
    long[][] totalAndDim = {{1L << 40, 1}, {Integer.MAX_VALUE - 8, Integer.MAX_VALUE}, {300_000, 0}, {-1, 1},
        {Long.MIN_VALUE, 1}};
    for (long[] c : totalAndDim) {
      for (String table : List.of("", "t")) {
        TensorMessage h = table.isEmpty() ? PUSH.toBuilder().setDense(Messages.dense(0, c[0])).build()
            : PUSH.toBuilder().setRows(Messages.rows(table, 0, (int) c[1]).toBuilder().setTotal(c[0])).build();
        assertThatThrownBy(() -> add(h, 0, 1 << 20)).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("stream.max_request_bytes = 1048576");
      }
    }
  }

  @Test
  void memory_follows_what_has_come_and_not_what_is_announced() {
    // 8 GiB of floats and 24 GiB of rows announced, a few bytes sent; this JVM has much less.
    TensorMessage dense = PUSH.toBuilder().setChunkCount(9).setDense(Messages.dense(0, Integer.MAX_VALUE - 8)).build();
    ShardAssembly begun = add(dense, 400, Long.MAX_VALUE);
    assertThat(begun.dense().block(0)).hasSize(DenseValues.BLOCK);
    assertThatThrownBy(() -> begun.dense().block(1)).isInstanceOf(IndexOutOfBoundsException.class);
    TensorMessage rows = PUSH.toBuilder().setChunkCount(9).setRows(Messages.rows("t", 2, 1).toBuilder()
        .setTotal(Integer.MAX_VALUE - 8)).build();
    assertThat(add(rows, 24, Long.MAX_VALUE).rows().get(0).ids()).hasSizeLessThanOrEqualTo(32);
  }

  @Test
  void incomplete_requests_share_one_budget_and_give_it_back() {
    ByteBudget budget = new ByteBudget(1000);
    TensorMessage h = PUSH.toBuilder().setChunkCount(2).setDense(Messages.dense(0, 200)).build();
    ShardAssembly first = new ShardAssembly(h, budget, BLOCKS);
    add(first, new TensorFrame(h, ByteBuffer.allocate(400)));
    assertThatThrownBy(() -> add(new ShardAssembly(h, budget, BLOCKS), new TensorFrame(h, ByteBuffer.allocate(400))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("1000");
    first.giveBack();
    assertThat(add(new ShardAssembly(h, budget, BLOCKS), new TensorFrame(h, ByteBuffer.allocate(400)))).isFalse();
  }

  /** Before anything is allocated: afterwards there may be no memory to say so. */
  @Test
  void a_request_that_does_not_fit_the_heap_beside_the_others_is_refused_by_what_it_announces() {
    HeapBudget heap = new HeapBudget(1000);
    TensorMessage rows = PUSH.toBuilder().setChunkCount(2).setRows(Messages.rows("t", 1, 1).toBuilder().setTotal(50)).build();
    ShardAssembly first = new ShardAssembly(rows, new ByteBudget(1 << 20), heap, BLOCKS);
    assertThat(add(first, new TensorFrame(rows, ByteBuffer.allocate(12)))).isFalse();
    assertThat(heap.taken()).isEqualTo(600);
    ShardAssembly second = new ShardAssembly(rows, new ByteBudget(1 << 20), heap, BLOCKS);
    assertThatThrownBy(() -> add(second, new TensorFrame(rows, ByteBuffer.allocate(12)))).isInstanceOf(Overloaded.class)
        .hasMessageContainingAll("PUSH of job 'census', rank 1", "600 bytes", "beside the 600", "may take 1000", "-Xmx");
    second.giveBackHeap();
    assertThat(heap.taken()).isEqualTo(600);
    first.giveBackHeap();
    first.giveBackHeap();
    assertThat(heap.taken()).isZero();
    second.keep(1000);
    assertThatThrownBy(() -> first.keep(1)).isInstanceOf(Overloaded.class);
    second.giveBackHeap();
    first.keep(1);
    assertThat(heap.taken()).isEqualTo(1);
  }

  /** It would count twice beside what the first stream brought. */
  @Test
  void of_a_push_that_is_repeated_nothing_is_kept_and_all_is_checked() {
    TensorMessage rows = PUSH.toBuilder().setChunkCount(2).setRows(Messages.rows("t", 2, 1)).build();
    TensorMessage dense = PUSH.toBuilder().setChunkCount(2).setChunkIndex(1).setDense(Messages.dense(0, 4)).build();
    ShardAssembly a = ShardAssembly.discarding(rows);
    assertThat(add(a, new TensorFrame(rows, ByteBuffer.allocate(24)))).isFalse();
    assertThat(add(a, new TensorFrame(dense, ByteBuffer.allocate(16)))).isTrue();
    assertThat(a.rows()).isEmpty();
    assertThat(a.dense()).isNull();
    ShardAssembly incomplete = ShardAssembly.discarding(rows);
    assertThat(add(incomplete, new TensorFrame(rows, ByteBuffer.allocate(24)))).isFalse();
    assertThatThrownBy(() -> add(incomplete, new TensorFrame(dense, ByteBuffer.allocate(12)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("incomplete: 3 of 4");
  }

  @Test
  void the_heaps_budget_is_a_share_of_the_heap() {
    assertThat(HeapBudget.REQUESTS.limit()).isEqualTo(Runtime.getRuntime().maxMemory() / 2);
  }

  @Property(tries = 500)
  void no_header_of_any_kind_breaks_more_than_its_request(@ForAll @IntRange(min = -3, max = 9) int rows,
      @ForAll @IntRange(min = -3, max = 9) int dim, @ForAll @IntRange(min = -3, max = 40) int total,
      @ForAll @IntRange(min = -3, max = 9) int offset, @ForAll @IntRange(max = 200) int bytes, @ForAll boolean sparse) {
    TensorMessage.Builder push = PUSH.toBuilder().setChunkCount(1);
    TensorMessage h = (sparse ? push.setRows(RowSlice.newBuilder().setTable("t").setRowCount(rows).setDim(dim).setTotal(total)
        .setOffset(offset)) : push.setDense(Messages.dense(offset, total))).build();
    try {
      ShardAssembly a = add(h, bytes, 1 << 20);
      // What was accepted is complete and consistent.
      a.rows().forEach(r -> assertThat(r.values()).hasSize(r.ids().length * dim));
    } catch (InvalidInput e) {
      assertThat(e.getMessage()).contains("census");
    }
  }

  private static boolean add(ShardAssembly a, TensorFrame frame) {
    ByteBuf payload = Unpooled.wrappedBuffer(frame.read());
    a.begin(frame.header(), payload.readableBytes());
    while (payload.isReadable()) { // cut as a network might, in the middle of an element too
      a.payload(payload.readSlice(Math.min(payload.readableBytes(), 7)));
    }
    return a.end();
  }

  private static ShardAssembly add(TensorMessage h, int bytes, long limit) {
    ShardAssembly a = new ShardAssembly(h, new ByteBudget(limit), BLOCKS);
    add(a, new TensorFrame(h, ByteBuffer.allocate(bytes)));
    return a;
  }

  private static ShardAssembly whole(Iterator<Outgoing> out, int chunkBytes) {
    List<TensorFrame> frames = frames(out);
    assertThat(frames).allSatisfy(f -> assertThat(f.read().remaining()).isLessThanOrEqualTo(Math.max(chunkBytes, 20)));
    return assemble(frames);
  }

  private static ShardAssembly assemble(List<TensorFrame> frames) {
    ShardAssembly a = new ShardAssembly(frames.get(0).header(), new ByteBudget(64 << 20), BLOCKS);
    for (int i = 0; i < frames.size(); i++) {
      assertThat(add(a, frames.get(i))).isEqualTo(i == frames.size() - 1);
    }
    return a;
  }

  /** Copies: the pooled memory goes back at once. */
  private static List<TensorFrame> frames(Iterator<Outgoing> out) {
    List<TensorFrame> frames = new ArrayList<>();
    out.forEachRemaining(o -> {
      ByteBuffer copy = ByteBuffer.allocate(o.frame().read().remaining()).put(o.frame().read()).flip();
      frames.add(new TensorFrame(o.frame().header(), copy));
      o.release();
    });
    return frames;
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

  private static float[] floats(DenseValues values) {
    return values == null ? null : values.toArray();
  }

  private static float[] floats(int n) {
    float[] f = new float[n];
    for (int i = 0; i < n; i++) {
      f[i] = i * 0.25f - 3;
    }
    return f;
  }
}
