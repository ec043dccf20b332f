package io.regatta.core.memory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A budget of the heap, in bytes, for one kind of data. Thread-safe. Bytes are taken before anything is allocated, so
 * that a request that does not fit is refused while there is memory to say so. The budgets of one process share a
 * total: a byte that one of them has taken is missing in the others.
 */
public final class HeapBudget {

  private static final long HEAP = Runtime.getRuntime().maxMemory();
  private static final int REQUEST_SHARE = 2;
  private static final int ANSWER_SHARE = 4;
  private static final int FREE_SHARE = 8;
  private static final int EXCHANGE_SHARE = 8;
  private static final long FREE_MIN = 96 << 20;
  /** An eighth of the heap stays free for everything that no budget counts; of a small heap more. */
  private static final HeapBudget TOTAL =
      new HeapBudget(HEAP - Math.max(HEAP / FREE_SHARE, Math.min(HEAP / REQUEST_SHARE, FREE_MIN)));

  /** Half of the heap: requests and kept pushes of all streams of this process, incomplete ones included. */
  public static final HeapBudget REQUESTS = new HeapBudget(HEAP / REQUEST_SHARE, TOTAL);
  /** A quarter of the heap: answers of this process until they are sent, and what is merged of pushes. */
  public static final HeapBudget ANSWERS = new HeapBudget(HEAP / ANSWER_SHARE, TOTAL);
  /**
   * Dense vectors with their optimizer slots, and sparse rows, of all shards of this process. An eighth of the heap
   * stays for requests and answers: a server full of parameters still serves, and can evict.
   */
  public static final HeapBudget PARAMETERS = new HeapBudget(TOTAL.limit - HEAP / EXCHANGE_SHARE, TOTAL);

  private final long limit;
  /** Null if this budget shares nothing. */
  private final HeapBudget total;
  /** Lock of callers that check whether bytes are free and then take them; bytes are given back without it. */
  private final Object taking;
  private final AtomicLong taken = new AtomicLong();
  private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();

  /** Creates a budget that shares nothing with others. */
  public HeapBudget(long limit) {
    this(limit, null);
  }

  private HeapBudget(long limit, HeapBudget total) {
    this.limit = limit;
    this.total = total;
    taking = total == null ? this : total.taking;
  }

  /** Returns a budget of a quarter of the heap that shares nothing with others. */
  public static HeapBudget answers() {
    return new HeapBudget(ANSWERS.limit);
  }

  /** Returns a budget of what parameters may take of the heap that shares nothing with others. */
  public static HeapBudget parameters() {
    return new HeapBudget(PARAMETERS.limit);
  }

  /** Returns the size of this budget. */
  public long limit() {
    return limit;
  }

  /** Returns the bytes that are taken of this budget. */
  public long taken() {
    return taken.get();
  }

  /** Returns the bytes that {@link #take} would give now. */
  public long free() {
    long own = limit - taken.get();
    return Math.max(0, total == null ? own : Math.min(own, total.free()));
  }

  /**
   * Returns the most bytes that {@link #take} could ever give: all but those taken by parameters, which are not given
   * back.
   */
  public long most() {
    return total == null || this == PARAMETERS ? limit : Math.max(0, Math.min(limit, total.limit - PARAMETERS.taken()));
  }

  /** Takes {@code bytes} bytes; returns false, and takes none, if they are not free. */
  public boolean take(long bytes) {
    synchronized (taking) {
      if (bytes > free()) {
        return false;
      }
      add(bytes);
      return true;
    }
  }

  /**
   * Takes bytes as {@link #take} does; if nothing of this budget is taken, also beyond what the other budgets have
   * left. A request may be held until the caller has been answered, so one answer must always be possible.
   */
  public boolean takeInTurn(long bytes) {
    synchronized (taking) {
      if (take(bytes)) {
        return true;
      }
      if (taken.get() > 0 || bytes > limit) {
        return false;
      }
      add(bytes);
      return true;
    }
  }

  /** Counts bytes that have been allocated already, also beyond the limit. */
  public void add(long bytes) {
    taken.addAndGet(bytes);
    if (total != null) {
      total.add(bytes);
    }
  }

  /** Gives bytes back, and runs the callbacks that wait for them on this thread. */
  public void giveBack(long bytes) {
    if (bytes == 0) {
      return;
    }
    taken.addAndGet(-bytes);
    if (total != null) {
      total.giveBack(bytes);
    }
    for (Runnable w : waiting) {
      if (waiting.remove(w)) {
        try {
          w.run();
        } catch (RejectedExecutionException e) { // its loop has ended, and with it what waited there
        }
      }
    }
  }

  /**
   * Has {@code wake} run when bytes have been given back; repeated calls with the same object count once. It may run
   * twice, because a budget and the total each run it once. The caller must try {@link #take} again after this call,
   * because bytes may have been given back before it.
   *
   * @param wake run on any thread; must not block
   */
  public void whenFree(Runnable wake) {
    waiting.add(wake);
    if (total != null) {
      total.whenFree(wake);
    }
  }

  /** Returns a description of the heap's use by kind of data, for messages. */
  public static String inWords() {
    return "of this process's heap of " + HEAP + " bytes parameters take " + PARAMETERS.taken() + ", requests "
        + REQUESTS.taken() + ", answers " + ANSWERS.taken() + ", and " + (HEAP - TOTAL.limit) + " stay free";
  }
}
