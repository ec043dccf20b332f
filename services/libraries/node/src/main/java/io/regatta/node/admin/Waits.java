package io.regatta.node.admin;

import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocked operations of this process, with the peers that each waits for: {@code /why} shows them, and a wait that
 * gets long is logged. Thread-safe: operations begin and end on any thread, so its two sets are guarded by a lock that
 * is held only for adding, removing and copying.
 */
public final class Waits {

  /** A wait that has begun; close it, in any outcome, when the operation continues. */
  public interface Handle extends AutoCloseable {

    /** Replaces the peers that it waits for. */
    void waitsFor(List<Wait.Peer> peers);

    @Override
    void close();
  }

  /** A source of waits that can be taken away again. */
  public interface Source extends AutoCloseable {
    @Override
    void close();
  }

  private static final Logger LOG = LoggerFactory.getLogger(Waits.class);
  private static final PeerLog LONG = PeerLog.ofEvents(LOG);
  private static final PeerLog INCOMPLETE = PeerLog.ofEvents(LOG);

  private static final long SOURCE_SECONDS = 2;

  private record Key(String who, String operation, String where, long sinceMillis) {
    static Key of(Wait wait) {
      return new Key(wait.who(), wait.operation(), wait.where(), wait.sinceMillis());
    }
  }

  private final Object lock = new Object();
  private final Set<Open> open = new LinkedHashSet<>();
  private final Set<Supplier<Future<List<Wait>>>> sources = new LinkedHashSet<>();
  private final Clock clock;
  private final long longMillis;
  private final AtomicBoolean logging = new AtomicBoolean();
  /** Touched by one call of {@link #logLong} at a time. */
  private Map<Key, Long> nextLogMillis = new HashMap<>();

  /**
   * Creates the register of a process that waits for nobody.
   *
   * @param clock dates the waits
   * @param longSeconds after which a wait is logged, s; again at twice, four times, ... that age
   */
  public Waits(Clock clock, int longSeconds) {
    this.clock = clock;
    this.longMillis = longSeconds * 1000L;
  }

  /** Creates a register by the machine's clock, whose waits are logged after 10 s. */
  public Waits() {
    this(SystemClock.get(), 10);
  }

  /** Notes that an operation is blocked from now on; the parameters are those of {@link Wait}. */
  public Handle begin(String who, String operation, String where, List<Wait.Peer> waitsFor) {
    return add(new Open(new Wait(who, operation, where, clock.epochMillis(), List.copyOf(waitsFor)), null));
  }

  /**
   * Notes that an operation is blocked, with peers that are determined only on demand.
   *
   * @param waitsFor called on any thread for {@code /why} and for the log line of a long wait, never otherwise; may ask
   *     another process, and is abandoned after {@value #SOURCE_SECONDS} s
   */
  public Handle begin(String who, String operation, String where, Supplier<Future<List<Wait.Peer>>> waitsFor) {
    return add(new Open(new Wait(who, operation, where, clock.epochMillis(), List.of()), waitsFor));
  }

  private boolean isOpen(Open wait) {
    synchronized (lock) {
      return open.contains(wait);
    }
  }

  private Open add(Open wait) {
    synchronized (lock) {
      open.add(wait);
    }
    return wait;
  }

  /** Adds a source that is asked on its owner's loop, e.g. a shard's {@code waits()}. */
  public Source source(Loop owner, Supplier<List<Wait>> waits) {
    return add(() -> {
      Promise<List<Wait>> promise = Promise.promise();
      owner.execute(() -> {
        try {
          promise.complete(List.copyOf(waits.get()));
        } catch (RuntimeException | Error e) {
          promise.fail(e);
        }
      });
      return promise.future();
    });
  }

  private Source add(Supplier<Future<List<Wait>>> source) {
    synchronized (lock) {
      sources.add(source);
    }
    return () -> {
      synchronized (lock) {
        sources.remove(source);
      }
    };
  }

  /** Returns all waits now, the oldest first. A source that fails, or does not answer in 2 s, adds only a log line. */
  public Future<List<Wait>> list() {
    return list(wait -> true);
  }

  /**
   * Lists the waits as {@link #list()}. Only for the wanted ones are peers determined that need a question to another
   * process.
   */
  private Future<List<Wait>> list(Predicate<Wait> wanted) {
    List<Wait> out = new ArrayList<>();
    List<Open> begun;
    List<Supplier<Future<List<Wait>>>> asked;
    synchronized (lock) {
      begun = List.copyOf(open);
      asked = List.copyOf(sources);
    }
    List<Future<List<Wait>>> answers = new ArrayList<>();
    for (Open wait : begun) {
      if (wait.lookup == null) {
        out.add(wait.wait);
      } else if (wanted.test(wait.wait)) {
        answers.add(wait.ask());
      }
    }
    for (Supplier<Future<List<Wait>>> source : asked) {
      answers.add(limited(source).recover(e -> {
        INCOMPLETE.warn("/why is incomplete: a service of this process {}", e instanceof TimeoutException
            ? "is busy and has not said within " + SOURCE_SECONDS + " s what it waits for" : "cannot say what it waits for: " + e);
        return Future.succeededFuture(List.of());
      }));
    }
    return Future.join(answers).map(done -> {
      answers.forEach(answer -> out.addAll(answer.result()));
      out.sort(Comparator.comparingLong(Wait::sinceMillis));
      return out;
    });
  }

  /** Limits the time of a source: a blocked or closed loop must not keep the others from being shown. */
  private static <T> Future<T> limited(Supplier<Future<T>> source) {
    try {
      return source.get().timeout(SOURCE_SECONDS, TimeUnit.SECONDS);
    } catch (RuntimeException | Error e) {
      return Future.failedFuture(e);
    }
  }

  /**
   * Logs the waits that have become long since the last call: at the threshold, then at twice that age, and so on.
   * Called by the node's timer. A call does nothing while the previous one still asks its sources.
   */
  public Future<Void> logLong(long nowMillis) {
    if (!logging.compareAndSet(false, true)) {
      return Future.succeededFuture();
    }
    Map<Key, Long> next = new HashMap<>();
    return list(wait -> isDue(wait, nowMillis, next)).<Void>map(waits -> {
      for (Wait wait : waits) {
        Key key = Key.of(wait);
        long age = nowMillis - wait.sinceMillis();
        long due = nextLogMillis.getOrDefault(key, longMillis);
        if (age >= due) {
          LONG.warn("{}", wait.sentence(nowMillis));
          due = Math.max(due * 2, age + longMillis);
        }
        next.put(key, due);
      }
      nextLogMillis = next;
      return null;
    }).onComplete(done -> logging.set(false));
  }

  /**
   * Returns true if the wait's line is due. Keeps in {@code next} the time at which the line of a wait that is not
   * asked now is due.
   */
  private boolean isDue(Wait wait, long nowMillis, Map<Key, Long> next) {
    long due = nextLogMillis.getOrDefault(Key.of(wait), longMillis);
    next.put(Key.of(wait), due);
    return nowMillis - wait.sinceMillis() >= due;
  }

  private final class Open implements Handle {
    /** Null: the wait has its peers. */
    private final Supplier<Future<List<Wait.Peer>>> lookup;
    private volatile Wait wait;

    Open(Wait wait, Supplier<Future<List<Wait.Peer>>> lookup) {
      this.wait = wait;
      this.lookup = lookup;
    }

    /**
     * Asks for the peers. Never fails: a wait whose peers cannot be determined is still shown; one that has ended
     * meanwhile is not.
     */
    Future<List<Wait>> ask() {
      return limited(lookup)
          .recover(e -> Future.succeededFuture(List.of(Wait.Peer.named(e instanceof TimeoutException
              ? "peers that could not be asked in time" : "somebody (" + e.getMessage() + ")"))))
          .map(peers -> isOpen(this) ? List.of(waitingFor(peers)) : List.of());
    }

    private Wait waitingFor(List<Wait.Peer> peers) {
      return new Wait(wait.who(), wait.operation(), wait.where(), wait.sinceMillis(), List.copyOf(peers));
    }

    @Override
    public void waitsFor(List<Wait.Peer> peers) {
      wait = waitingFor(peers);
    }

    @Override
    public void close() {
      synchronized (lock) {
        open.remove(this);
      }
    }
  }
}
