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
 * Memory of a fixed size that a process writes blocks of bytes into, and another one of the same user and machine reads them
 * from, in that order: what the one copies in, the other one uses where it lies. Which block is meant is told by other means, a
 * stream between the two, which also tells a writer that has found no room that there is some again. It is a file in
 * memory ({@code /dev/shm}) that nobody but its user can open, and which has no name any more as soon as both ends have it; its
 * memory goes back when both have dropped it and their collectors have noticed.
 *
 * <p>Beside the blocks that are copied in, the writer may lend others, which the reader reads where they lie in memory of the writer's
 * ({@link SharedMemory}); what both say of those stands here, too.
 *
 * <p>Each end is owned by one thread at a time. Positions count all bytes ever written; a block never wraps around the end, and
 * begins at a multiple of 64.
 */
public abstract sealed class SharedRing {
  /** Of the counters, at the beginning. */
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
  /** What a peer may ask this process to map. */
  private static final int MAX_BYTES = 64 << 20;
  /** What is left to others of the memory for such files; a container has 64 MiB by default. */
  private static final long RESERVE_BYTES = 16 << 20;

  private final MappedByteBuffer memory;
  final ByteBuffer blocks;

  private SharedRing(MappedByteBuffer memory) {
    this.memory = memory;
    blocks = memory.slice(HEAD_BYTES, memory.capacity() - HEAD_BYTES);
  }

  /** Bytes for blocks. */
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
   * The end that writes. Makes it, with all of its memory there: a system that has not enough says so now, and not by ending the
   * process at a later write. Blocks.
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
   * The end that reads, and takes the memory's name away. Blocks.
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

  /** Writes blocks. */
  public static final class Writer extends SharedRing {
    private final Path path;
    /** Of the next block, if it does not have to begin anew at the beginning. */
    private long produced;

    private Writer(MappedByteBuffer memory, Path path) {
      super(memory);
      this.path = path;
    }

    /** For {@link SharedRing#open}. */
    public String name() {
      return path.getFileName().toString();
    }

    /** Whether the other end is there; before, nothing that is written would be read. */
    public boolean isTaken() {
      return get(TAKEN_AT) != 0;
    }

    /**
     * Whether a block of so many bytes has room. If not, the reader will say when it has taken blocks away ({@link
     * Reader#release}): ask again then.
     *
     * @param bytes at most {@link #capacity}
     */
    public boolean hasRoom(int bytes) {
      if (fits(bytes)) {
        return true;
      }
      set(WANTED_AT, 1);
      return fits(bytes); // for what has been taken away before that was seen
    }

    private boolean fits(int bytes) {
      return begin(bytes) + bytes - get(CONSUMED_AT) <= capacity();
    }

    private long begin(int bytes) {
      long at = produced % capacity();
      return at + bytes <= capacity() ? produced : produced + capacity() - at;
    }

    /** The position of the next block, for which there is room. */
    public long next(int bytes) {
      return begin(bytes);
    }

    /** The memory of the next block. It counts as written; the message that tells the reader must follow what is put there. */
    public ByteBuffer write(int bytes) {
      long at = begin(bytes);
      produced = at + (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
      return slice(at, bytes);
    }

    /** Whether the reader has opened the memory that it has been offered by this number. */
    public boolean isOpen(int memory) {
      return (get(MEMORIES_AT) & 1L << memory) != 0;
    }

    /** How many of the blocks have been read that were lent to the reader in memory of their own. */
    public long lentRead() {
      return get(LENT_READ_AT);
    }

    /** From now on this end waits until so many of them have been read; ask {@link #lentRead} again, for those read before that was seen. */
    public void wantsRead(long lent) {
      set(LENT_WANTED_AT, lent);
    }

    /** What is lent is this end's again, read or not: the reader will know what it has read since for garbage. */
    public void takeBack() {
      set(TAKEN_BACK_AT, 1);
      VarHandle.fullFence(); // before anything is written there
    }

    /** Takes the name away if no reader has; in memory, so that it takes some microseconds. */
    public void close() throws IOException {
      Files.deleteIfExists(path);
    }
  }

  /** Reads blocks. */
  public static final class Reader extends SharedRing {
    /** Of blocks in memory of their own. */
    private long lentRead;
    /** The last number of them for which the writer has been told. */
    private long told;

    private Reader(MappedByteBuffer memory) {
      super(memory);
    }

    /** From now on the writer may use it. */
    public void take() {
      set(TAKEN_AT, 1);
    }

    /**
     * A block that the writer has told of.
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
     * Takes a block away, and all before it.
     *
     * @return whether the writer waits, and must be told
     */
    public boolean release(long position, int bytes) {
      set(CONSUMED_AT, position + (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
      if (get(WANTED_AT) == 0) {
        return false;
      }
      set(WANTED_AT, 0);
      return true;
    }

    /** From now on the writer may lend blocks that lie in this memory. */
    public void open(int memory) {
      set(MEMORIES_AT, get(MEMORIES_AT) | 1L << memory);
    }

    /**
     * Whether what has been read of a lent block, all of it, was what the writer has sent: if not, the writer has taken it back
     * meanwhile.
     */
    public boolean isLent() {
      VarHandle.loadLoadFence();
      return get(TAKEN_BACK_AT) == 0;
    }

    /**
     * The next lent block has been read.
     *
     * @return whether the writer waits, and must be told
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
