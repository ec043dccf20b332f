package io.regatta.protocol.memory;

import io.regatta.core.file.ConfinedDirectory;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Memory of a fixed size into which one process writes blocks of bytes, and from which another one of the same user and
 * machine reads them in that order. The writer copies a block in, and the reader uses it in place. A stream between the
 * two carries the position of each block, and the notice to a waiting writer that there is room again. The memory is a
 * file in {@code /dev/shm} that only its user can open. It loses its name as soon as both ends have it, and returns to
 * the system when both have dropped it and their collectors have noticed.
 *
 * <p>Beside the copied blocks, the writer may lend others, which the reader reads in place in memory of the writer's
 * ({@link SharedMemory}); the counters of those stand here, too.
 *
 * <p>Each end is owned by one thread at a time. Positions count all bytes ever written; a block never wraps around the
 * end, and begins at a multiple of 64.
 */
public abstract sealed class SharedRing {
  /** Size of the counters, at the beginning. */
  private static final int HEAD_BYTES = 4096;
  private static final int LINE_BYTES = 64;
  private static final int CONSUMED_AT = 0;
  private static final int TAKEN_AT = 2 * LINE_BYTES;
  private static final int WANTED_AT = 4 * LINE_BYTES;
  private static final int LENT_READ_AT = 6 * LINE_BYTES;
  private static final int LENT_WANTED_AT = 8 * LINE_BYTES;
  private static final int MEMORIES_AT = 10 * LINE_BYTES;
  private static final int TAKEN_BACK_AT = 12 * LINE_BYTES;
  private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  /** Most bytes that a peer may ask this process to map. */
  private static final int MAX_BYTES = 64 << 20;
  /** Bytes of the memory for such files that are left to others; a container has 64 MiB by default. */
  private static final long RESERVE_BYTES = 16 << 20;

  private final MappedByteBuffer memory;
  final ByteBuffer blocks;

  private SharedRing(MappedByteBuffer memory) {
    this.memory = memory;
    blocks = memory.slice(HEAD_BYTES, memory.capacity() - HEAD_BYTES);
  }

  /** Returns the bytes for blocks. */
  public final int capacity() {
    return blocks.capacity();
  }

  final long get(int at) {
    return (long) LONG.getVolatile(memory, at);
  }

  final void set(int at, long value) {
    LONG.setVolatile(memory, at, value);
  }

  final ByteBuffer slice(long position, int bytes) {
    return blocks.slice((int) (position % capacity()), bytes);
  }

  /**
   * Creates the writing end, with all of its memory allocated: a system without enough memory fails now, and does not
   * end the process at a later write. Blocks.
   *
   * @param capacity a multiple of 64
   * @throws IOException if there can be none here
   */
  public static Writer create(int capacity) throws IOException {
    SharedFiles.Made made = SharedFiles.create(HEAD_BYTES + capacity, RESERVE_BYTES);
    try (FileChannel file = made.file()) {
      return new Writer(file.map(FileChannel.MapMode.READ_WRITE, 0, HEAD_BYTES + capacity), made.path());
    } catch (IOException | RuntimeException | Error e) {
      Files.deleteIfExists(made.path());
      throw e;
    }
  }

  /**
   * Opens the reading end, and removes the memory's name. Blocks.
   *
   * @param name {@link Writer#name} of one that has been made on this machine by this user
   * @throws IOException if it is not here
   */
  public static Reader open(String name) throws IOException {
    if (!name.matches(SharedFiles.NAME) || !SharedFiles.directory().isOwn()) {
      throw new IOException("no shared memory of this user is called " + name);
    }
    ConfinedDirectory shared = ConfinedDirectory.of(SharedFiles.directory().path());
    try (FileChannel file = shared.update(name)) {
      long size = file.size();
      if (size <= HEAD_BYTES || size > MAX_BYTES || (size - HEAD_BYTES) % LINE_BYTES != 0) {
        throw new IOException(shared.pathOf(name) + " has " + size + " bytes and is no shared memory of Regatta's");
      }
      Reader reader = new Reader(file.map(FileChannel.MapMode.READ_WRITE, 0, size));
      shared.delete(name);
      return reader;
    }
  }

  /** The writing end. */
  public static final class Writer extends SharedRing {
    private final Path path;
    /** Position of the next block, unless it has to begin at the start again. */
    private long produced;

    private Writer(MappedByteBuffer memory, Path path) {
      super(memory);
      this.path = path;
    }

    /** Returns the name for {@link SharedRing#open}. */
    public String name() {
      return path.getFileName().toString();
    }

    /** Returns true if the other end is there; blocks written before are never read. */
    public boolean isTaken() {
      return get(TAKEN_AT) != 0;
    }

    /**
     * Returns true if a block of this size has room. If not, the reader notifies when it has released blocks
     * ({@link Reader#release}): ask again then.
     *
     * @param bytes at most {@link #capacity}
     */
    public boolean hasRoom(int bytes) {
      if (fits(bytes)) {
        return true;
      }
      set(WANTED_AT, 1);
      return fits(bytes); // for blocks released before that was seen
    }

    private boolean fits(int bytes) {
      return begin(bytes) + bytes - get(CONSUMED_AT) <= capacity();
    }

    private long begin(int bytes) {
      long at = produced % capacity();
      return at + bytes <= capacity() ? produced : produced + capacity() - at;
    }

    /** Returns the position of the next block, for which there is room. */
    public long next(int bytes) {
      return begin(bytes);
    }

    /**
     * Returns the memory of the next block. It counts as written; the message with its position must follow the writing
     * of its content.
     */
    public ByteBuffer write(int bytes) {
      long at = begin(bytes);
      produced = at + (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
      return slice(at, bytes);
    }

    /** Returns true if the reader has opened the memory that it has been offered by this number. */
    public boolean isOpen(int memory) {
      return (get(MEMORIES_AT) & 1L << memory) != 0;
    }

    /** Returns how many blocks lent in memory of their own the reader has read. */
    public long lentRead() {
      return get(LENT_READ_AT);
    }

    /**
     * Notes that this end waits until this number of them has been read. Ask {@link #lentRead} again, for those read
     * before the reader saw this.
     */
    public void wantsRead(long lent) {
      set(LENT_WANTED_AT, lent);
    }

    /** Takes all lent blocks back, read or not: the reader recognizes later reads as invalid. */
    public void takeBack() {
      set(TAKEN_BACK_AT, 1);
      VarHandle.fullFence(); // before anything is written there
    }

    /** Removes the name if no reader has; in memory, so that it takes some microseconds. */
    public void close() throws IOException {
      Files.deleteIfExists(path);
    }
  }

  /** The reading end. */
  public static final class Reader extends SharedRing {
    /** Number of read blocks in memory of their own. */
    private long lentRead;
    /** The last number of them of which the writer has been notified. */
    private long told;

    private Reader(MappedByteBuffer memory) {
      super(memory);
    }

    /** Allows the writer to use it. */
    public void take() {
      set(TAKEN_AT, 1);
    }

    /**
     * Returns a block that the writer has announced.
     *
     * @throws IllegalArgumentException if there cannot be any
     */
    public ByteBuffer read(long position, int bytes) {
      long consumed = get(CONSUMED_AT);
      if (position < consumed || bytes < 0 || position % LINE_BYTES != 0 || position - consumed > capacity() - bytes
          || position % capacity() + bytes > capacity()) {
        throw new IllegalArgumentException("a block of " + bytes + " bytes at " + position + " of shared memory of " + capacity()
            + " bytes, of which all before " + consumed + " have been taken away");
      }
      VarHandle.acquireFence();
      return slice(position, bytes);
    }

    /**
     * Releases a block, and all before it.
     *
     * @return whether the writer waits, and must be notified
     */
    public boolean release(long position, int bytes) {
      set(CONSUMED_AT, position + (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
      if (get(WANTED_AT) == 0) {
        return false;
      }
      set(WANTED_AT, 0);
      return true;
    }

    /** Allows the writer to lend blocks that lie in this memory. */
    public void open(int memory) {
      set(MEMORIES_AT, get(MEMORIES_AT) | 1L << memory);
    }

    /**
     * Returns true if a lent block that has been read was valid throughout: otherwise the writer has taken it back
     * meanwhile.
     */
    public boolean isLent() {
      VarHandle.loadLoadFence();
      return get(TAKEN_BACK_AT) == 0;
    }

    /**
     * Notes that the next lent block has been read.
     *
     * @return whether the writer waits, and must be notified
     */
    public boolean giveBack() {
      set(LENT_READ_AT, ++lentRead);
      long wanted = get(LENT_WANTED_AT);
      boolean tell = wanted > told && lentRead >= wanted;
      told = tell ? wanted : told;
      return tell;
    }
  }
}
