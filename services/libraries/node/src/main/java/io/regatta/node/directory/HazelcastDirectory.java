package io.regatta.node.directory;

import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.OperationTimeoutException;
import com.hazelcast.nio.serialization.HazelcastSerializationException;
import com.hazelcast.partition.NoDataMemberInClusterException;
import com.hazelcast.spi.exception.RetryableHazelcastException;
import io.netty.channel.ConnectTimeoutException;
import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Deadline;
import io.regatta.core.loop.Stopwatch;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.admin.Waits;
import io.regatta.node.member.MemberCalls;
import io.regatta.node.member.VertxMember;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.AsyncMap;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory in the shared map {@value #MAP}. Each instance has one small JSON text with a time to live, renewed by
 * its owner three times per lease, and sealed if there is a token ({@link EntrySeal}). On a Vertx with a Hazelcast
 * member the map is the cluster's, and is called on threads {@code regatta-directory}. On any other Vertx it is the
 * JVM's, so that services of one JVM find each other without a cluster. Any thread.
 */
public final class HazelcastDirectory extends WaitingDirectory {

  public static final String MAP = "regatta.directory";
  private static final long RETRY_MILLIS = 200;
  /** Limit of removals at a close, which must not wait for a cluster whose other members have gone. */
  private static final long REMOVE_MILLIS = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(HazelcastDirectory.class);
  private static final PeerLog RENEWALS = PeerLog.ofEvents(LOG);
  private static final PeerLog GONE = PeerLog.ofEvents(LOG);
  private static final PeerLog FORGED = new PeerLog(LOG);
  private static final PeerLog REPLAYED = new PeerLog(LOG);
  private static final String WRITERS = "Somebody else writes to the Hazelcast cluster: give all members the job's "
      + "token, and close Hazelcast's port to others (docs/security.md)";
  private static final int MAX_LEFTOVERS = 1000;
  private static final int OUTLAST_LEASES = 2;

  private final Clock clock = SystemClock.get();
  private final long leaseMillis;
  private final EntrySeal seal;
  /** Calls into Hazelcast, which may take long; null: there are none. */
  private final MemberCalls calls;
  private final Function<MemberCalls, Future<AsyncMap<String, String>>> store;
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();
  /** Entries of members that have left, by key, with the time since they were first seen. */
  private final Map<String, Leftover> leftovers = new ConcurrentHashMap<>();

  /** An entry whose member has left the cluster; an honest one ends with its lease. */
  private record Leftover(String entry, Stopwatch since) {}

  /** Creates a directory whose entries are not sealed. */
  public HazelcastDirectory(Vertx vertx, Waits waits, int leaseSeconds) {
    this(vertx, waits, leaseSeconds, PeerSecurity.NONE);
  }

  /**
   * A directory in the cluster under a Vertx.
   *
   * @param leaseSeconds how long an entry outlives its owner's last renewal, s
   * @param security tokens with which entries are sealed; see {@link EntrySeal}
   */
  public HazelcastDirectory(Vertx vertx, Waits waits, int leaseSeconds, PeerSecurity security) {
    this(vertx, waits, leaseSeconds, security, new MemberCalls(vertx, "regatta-directory"), null);
  }

  HazelcastDirectory(Vertx vertx, Waits waits, int leaseSeconds, Supplier<Future<AsyncMap<String, String>>> store) {
    this(vertx, waits, leaseSeconds, PeerSecurity.NONE, null, store);
  }

  /** @param store of a test; null: the map under the Vertx, called on these threads */
  private HazelcastDirectory(Vertx vertx, Waits waits, int leaseSeconds, PeerSecurity security, MemberCalls calls,
      Supplier<Future<AsyncMap<String, String>>> store) {
    super(vertx, waits);
    this.leaseMillis = leaseSeconds * 1000L;
    this.seal = new EntrySeal(security, "directory entry", leaseMillis);
    this.calls = calls;
    this.store = store != null ? of -> store.get() : of -> VertxMember.asyncMap(vertx, MAP, of);
  }

  @Override
  public Future<Registration> register(Instance instance) {
    Lease lease = new Lease(instance.service() + "/" + instance.id(), instance, null, "");
    return retry(lease::put, "register " + instance.service() + " at " + instance.endpoint())
        .compose(v -> lease.keep());
  }

  /** Registers under the index as key, in place of the id: the store itself admits one of two that come at once. */
  @Override
  public Future<Registration> registerSole(Instance instance, Function<Instance, Future<Boolean>> answers,
      String remedy) {
    Lease lease = new Lease(instance.service() + "/" + instance.index(), instance, answers, remedy);
    return retry(() -> claim(lease), "register " + instance.service() + " at " + instance.endpoint())
        .compose(v -> lease.keep());
  }

  private Future<Void> claim(Lease lease) {
    return lease.writable().compose(map -> map.putIfAbsent(lease.key, lease.sealed(), leaseMillis).compose(held -> {
      if (held == null || lease.isOwn(held)) {
        return refuseBeside(lease);
      }
      Optional<Instance> holder = instance(lease.key, held);
      return (holder.isPresent() ? vacate(map, lease, holder.get(), held)
          : outlast(map, lease, held, Deadline.inMillis(clock, OUTLAST_LEASES * leaseMillis)))
          .compose(v -> claim(lease));
    }));
  }

  /** Removes the entry of another holder from a place; fails if that holder lives. */
  private Future<Void> vacate(AsyncMap<String, String> map, Lease lease, Instance holder, String held) {
    return refuseLiving(lease.instance, holder, lease.answers, lease.remedy)
        .compose(v -> map.removeIfPresent(lease.key, held)).mapEmpty();
  }

  /**
   * Removes an entry that cannot be opened from a place, once it has stood there for {@value #OUTLAST_LEASES} leases.
   * Within that time a holder whose token has changed reads its file of tokens and writes its entry anew. A forged
   * entry is not written anew and holds no place.
   */
  private Future<Void> outlast(AsyncMap<String, String> map, Lease lease, String held, Deadline deadline) {
    if (deadline.isPast()) {
      return map.removeIfPresent(lease.key, held).mapEmpty();
    }
    return vertx.timer(RETRY_MILLIS, TimeUnit.MILLISECONDS).compose(v -> map.get(lease.key)).compose(now ->
        held.equals(now) && instance(lease.key, held).isEmpty() ? outlast(map, lease, held, deadline)
            : Future.succeededFuture());
  }

  /** Refuses the place if another instance registered the same index in another way: then its entry is under its id. */
  private Future<Void> refuseBeside(Lease lease) {
    Instance own = lease.instance;
    return leased(own.service()).compose(listed -> Future.all(listed.stream()
            .filter(other -> other.index() == own.index() && !other.id().equals(own.id()))
            .map(other -> refuseLiving(own, other, lease.answers, lease.remedy)).toList()))
        .<Void>mapEmpty()
        .recover(e -> lease.remove().transform(removed -> Future.failedFuture(e)));
  }

  /** Succeeds if the holder of the wanted place does not live. */
  private Future<Void> refuseLiving(Instance wanting, Instance holder,
      Function<Instance, Future<Boolean>> answers, String remedy) {
    if (holder.endpoint().equals(wanting.endpoint())) {
      return Future.succeededFuture();
    }
    return judge(wanting, holder, answers, remedy, Deadline.inMillis(clock, leaseMillis));
  }

  /**
   * Decides whether a holder lives. It does if it answers, or if it renews its entry: it may be busy, and a place is
   * not taken from a living process. It does not if another process, or none, listens there. It does not either if its
   * entry disappears; a silent holder is asked until its lease ends, and no longer.
   */
  private Future<Void> judge(Instance wanting, Instance holder, Function<Instance, Future<Boolean>> answers,
      String remedy, Deadline deadline) {
    long leftMillis = Math.max(1, deadline.leftMillis());
    return answers.apply(holder).timeout(leftMillis, TimeUnit.MILLISECONDS).transform(answer -> {
      if (answer.succeeded() ? !answer.result() : nobodyListens(answer.cause())) {
        GONE.info("{} {} at {} is gone: its place in the directory goes to {}", holder.service(), holder.index(),
            holder.endpoint(), wanting.endpoint());
        return Future.succeededFuture();
      }
      if (answer.succeeded()) {
        return Future.failedFuture(conflict(wanting, holder, "", remedy));
      }
      long left = deadline.leftMillis();
      // no use in asking once more: ending a connection with a silent one takes long
      boolean leaseOver = left < RETRY_MILLIS;
      long pause = RETRY_MILLIS + (leaseOver ? left : 0);
      return vertx.timer(pause, TimeUnit.MILLISECONDS).compose(v -> leased(holder.service())).compose(listed -> {
        if (!listed.contains(holder)) {
          return Future.succeededFuture();
        }
        return leaseOver
            ? Future.failedFuture(conflict(wanting, holder, silence(answer.cause()), remedy))
            : judge(wanting, holder, answers, remedy, deadline);
      });
    });
  }

  /**
   * Returns the reason for which a holder that renews its entry has not answered: one with another token or other
   * certificates refuses the call.
   */
  private static String silence(Throwable failure) {
    return failure instanceof InvalidInput
        ? ", which renews its entry in the directory but does not answer this process: " + failure.getMessage()
        : ", which does not answer but renews its entry in the directory";
  }

  private static Conflict conflict(Instance wanting, Instance holder, String silent, String remedy) {
    return new Conflict(wanting.service() + " at " + wanting.endpoint() + " is not needed: " + holder.service()
        + (holder.service().equals(RENDEZVOUS) ? "" : " " + holder.index()) + " is at " + holder.endpoint() + ", process "
        + holder.attributes().getOrDefault(PID, "unknown") + silent + "; " + remedy);
  }

  private static boolean nobodyListens(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      if (e instanceof ConnectException && !(e instanceof ConnectTimeoutException)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Future<List<Instance>> list(String service) {
    return retry(() -> poll(service), "list " + service);
  }

  @Override
  public Future<Void> reachable() {
    return poll(RENDEZVOUS).mapEmpty();
  }

  @Override
  Future<List<Instance>> poll(String service) {
    return entries().map(entries -> {
      leftovers.keySet().removeIf(key -> key.startsWith(service + "/") && !entries.containsKey(key));
      return instances(service, entries, true);
    });
  }

  /**
   * Returns the instances that hold a lease, even if their member has left the cluster: it may be frozen, and resume.
   */
  private Future<List<Instance>> leased(String service) {
    return entries().map(entries -> instances(service, entries, false));
  }

  private Future<Map<String, String>> entries() {
    return map().compose(map -> map.entries()
        .recover(e -> isUnreadable(e) ? oneByOne(map) : Future.failedFuture(e)));
  }

  private List<Instance> instances(String service, Map<String, String> entries, boolean ofMembers) {
    Optional<Set<String>> members = ofMembers && seal.seals() ? VertxMember.ids(vertx) : Optional.empty();
    List<Instance> out = new ArrayList<>();
    entries.forEach((key, value) -> {
      if (key.startsWith(service + "/")) {
        Optional<EntrySeal.Opened> opened = seal.open(key, value);
        boolean left = opened.isPresent() && members.isPresent() && !members.get().contains(opened.get().member());
        if (left) {
          noteLeftover(key, value);
        } else {
          if (ofMembers) {
            leftovers.remove(key);
          }
          instance(key, opened).ifPresent(out::add);
        }
      }
    });
    out.sort(Comparator.comparingInt(Instance::index).thenComparing(Instance::id));
    return out;
  }

  /**
   * Notes a sealed entry whose member is not in the cluster. Such an entry lasts for a lease after the end of its
   * process. One that lasts longer has been written again by somebody else, which is logged.
   */
  private void noteLeftover(String key, String entry) {
    Leftover seen = leftovers.compute(key, (k, last) -> last != null && last.entry().equals(entry) ? last
        : leftovers.size() < MAX_LEFTOVERS ? new Leftover(entry, Stopwatch.start(clock)) : null);
    if (seen != null && seen.since().millis() > leaseMillis) {
      REPLAYED.warn("entry {} of the directory is left out: its process has left the Hazelcast cluster, or was never "
          + "in it, and the entry has not ended with its lease. " + WRITERS, key);
    }
  }

  /** Returns true if the map holds something else than text, which makes it unreadable as a whole. */
  private static boolean isUnreadable(Throwable failure) {
    return failure instanceof HazelcastSerializationException || failure instanceof ClassCastException;
  }

  private static Future<Map<String, String>> oneByOne(AsyncMap<String, String> map) {
    return map.keys().compose(keys -> {
      Map<String, String> entries = new HashMap<>();
      return Future.join(keys.stream().map(key -> {
        Future<?> value = map.get(key); // not of a text: a listener that says so would throw
        return value.onSuccess(entry -> {
          if (entry instanceof String text) {
            entries.put(key, text);
          }
        });
      }).toList()).transform(read -> {
        FORGED.warn("the directory holds something else than text, which is left out. " + WRITERS);
        return Future.succeededFuture(entries);
      });
    });
  }

  /** Returns the instance of an entry; empty, with a line in the log, if the entry is forged or cannot be read. */
  private Optional<Instance> instance(String key, String entry) {
    return instance(key, seal.open(key, entry));
  }

  private Optional<Instance> instance(String key, Optional<EntrySeal.Opened> opened) {
    Optional<Instance> instance = opened.map(EntrySeal.Opened::text).flatMap(InstanceText::read)
        .filter(read -> key.startsWith(read.service() + "/"));
    if (instance.isEmpty()) {
      FORGED.warn("entry {} of the directory is left out: it is not sealed with the token of this process, or "
          + "cannot be read. " + WRITERS, key);
    }
    return instance;
  }

  @Override
  public Future<Void> close() {
    Future<Void> ended = endWaits(); // first: a registration made meanwhile sees it, or is seen here
    List<Future<Void>> all = new ArrayList<>();
    leases.forEach(lease -> all.add(lease.close()));
    return ended.compose(v -> Future.join(all)).<Void>mapEmpty().onComplete(removed -> {
      if (calls != null) {
        calls.close();
      }
    });
  }

  private Future<AsyncMap<String, String>> map() {
    return store.apply(calls);
  }

  /** Repeats an operation while the cluster has no data member (it starts, or just lost its last one). */
  private <T> Future<T> retry(Supplier<Future<T>> operation, String what) {
    Promise<T> promise = Promise.promise();
    attempt(operation, what, Deadline.inMillis(clock, leaseMillis), promise);
    return promise.future();
  }

  private <T> void attempt(Supplier<Future<T>> operation, String what, Deadline deadline, Promise<T> promise) {
    if (closed()) {
      promise.fail(new Cancelled("cannot " + what + ": the directory is closed"));
      return;
    }
    operation.get().onComplete(result -> {
      if (result.succeeded()) {
        promise.complete(result.result());
      } else if (isTransient(result.cause()) && !deadline.isPast()) {
        vertx.setTimer(RETRY_MILLIS, timer -> attempt(operation, what, deadline, promise));
      } else {
        promise.fail(closed() ? new Cancelled("cannot " + what + ": the directory is closed")
            : result.cause() instanceof RegattaException ? result.cause() : new PeerLost("cannot " + what + " in the Hazelcast directory: " + SeedProbe.reason(result.cause()),
                result.cause()));
      }
    });
  }

  /** One entry that this process keeps alive. Its timer runs on the context that registered. */
  private final class Lease implements Registration {

    private final String key;
    private final Instance instance;
    private final String text;
    /**
     * Asks the holder of another entry under this key, which must be left alone if it lives; null: the entry is
     * overwritten.
     */
    private final Function<Instance, Future<Boolean>> answers;
    private final String remedy;
    private final Promise<String> lost = Promise.promise();
    /** Held during each call that writes or removes the entry, so that a removal comes after a write in progress. */
    private final Lock turn = new ReentrantLock();
    private volatile long timer = -1;
    private volatile boolean ended;
    private volatile boolean failing;
    /** True while a renewal is under way, which takes a lease if the holder of another entry has to be asked. */
    private volatile boolean renewing;

    Lease(String key, Instance owner, Function<Instance, Future<Boolean>> answers, String remedy) {
      this.key = key;
      this.instance = owner.with(PID, Long.toString(ProcessHandle.current().pid()));
      this.text = InstanceText.encode(instance);
      this.answers = answers;
      this.remedy = remedy;
    }

    Future<Void> put() {
      return writable().compose(map -> map.put(key, sealed(), leaseMillis));
    }

    /** Returns the map for writing the entry: nothing is written any more once this lease has ended. */
    Future<AsyncMap<String, String>> writable() {
      return store.apply(calls == null ? null : calls.owned(turn, () -> ended));
    }

    /**
     * Renews the entry from now on. If the directory was closed while the entry was made, it is removed here, since
     * nothing else would.
     */
    Future<Registration> keep() {
      leases.add(this);
      timer = vertx.setPeriodic(leaseMillis / 3, id -> renew());
      return !closed() ? Future.succeededFuture(this) : close().compose(removed -> Future.failedFuture(new Cancelled(
          "cannot register " + instance.service() + " at " + instance.endpoint() + ": the directory is closed")));
    }

    /** Renews the entry, one renewal at a time. One that hangs fails after a lease, so that the next may try. */
    private void renew() {
      if (renewing) {
        return;
      }
      renewing = true;
      Future<Void> renewed = answers == null ? put().timeout(leaseMillis, TimeUnit.MILLISECONDS) : renewPlace();
      renewed.compose(v -> ended ? remove() : Future.succeededFuture()).onComplete(result -> {
        renewing = false;
        if (result.failed() && !failing && !ended) {
          RENEWALS.warn("{} {} cannot renew its entry in the directory and tries again every {} ms: {}",
              instance.service(), instance.endpoint(), leaseMillis / 3, SeedProbe.reason(result.cause()));
        }
        failing = result.failed();
      });
    }

    /**
     * Renews the lease of a place. No step writes over another's entry, however late it is carried out: the first prolongs an entry and
     * changes none, the second sets one where there is none.
     */
    private Future<Void> renewPlace() {
      return writable().compose(map -> prolong(map)
          .compose(own -> own ? Future.<String>succeededFuture() : map.putIfAbsent(key, sealed(), leaseMillis))
          .timeout(leaseMillis, TimeUnit.MILLISECONDS)
          .compose(held -> held == null || isOwn(held) ? Future.succeededFuture() : examine(map, held)));
    }

    /**
     * Checks whether the entry of another in this one's place has a holder that lives. In that case this place is lost.
     * Otherwise the entry is that of a former holder, or forged, and is replaced.
     */
    private Future<Void> examine(AsyncMap<String, String> map, String held) {
      Optional<Instance> other = instance(key, held);
      if (other.isEmpty()) {
        return replace(map, held).mapEmpty();
      }
      return vacate(map, this, other.get(), held).compose(
          removed -> map.putIfAbsent(key, sealed(), leaseMillis).mapEmpty(),
          failure -> {
            if (failure instanceof Conflict) {
              displaced(held);
              return Future.succeededFuture();
            }
            return Future.failedFuture(failure);
          });
    }

    /**
     * Returns whether the entry is this one's, and prolongs it then. At worst, an entry of another is prolonged by one
     * lease.
     */
    private Future<Boolean> prolong(AsyncMap<String, String> map) {
      String now = sealed();
      return map.replaceIfPresent(key, now, now, leaseMillis).compose(same -> same ? Future.succeededFuture(true)
          : map.get(key).compose(held -> held != null && isOwn(held) ? replace(map, held)
              : Future.succeededFuture(false)));
    }

    /** Writes this entry, sealed with the current token, in place of that text; returns whether that text was there. */
    private Future<Boolean> replace(AsyncMap<String, String> map, String held) {
      return map.replaceIfPresent(key, held, sealed(), leaseMillis);
    }

    /** Returns the text in the map, sealed with the current token, which may have been replaced. */
    private String sealed() {
      return seal.seal(key, text, VertxMember.id(vertx));
    }

    private boolean isOwn(String entry) {
      return seal.openOwn(key, entry).filter(opened -> opened.text().equals(text)).isPresent();
    }

    private void displaced(String held) {
      vertx.cancelTimer(timer);
      String text = instance.service() + " " + instance.endpoint() + " did not answer for a while, and its place in the "
          + "directory was taken by "
          + instance(key, held).map(Instance::endpoint).map(PeerText::of).orElse("a forged entry")
          + ": it serves its connected clients, but no others find it any more; end one of the two";
      LOG.error(text);
      lost.tryComplete(text);
    }

    @Override
    public Future<String> lost() {
      return lost.future();
    }

    private Future<Void> remove() {
      return store.apply(calls == null ? null : calls.owned(turn, () -> false))
          .compose(map -> map.get(key).compose(held -> held == null || !isOwn(held)
          ? Future.succeededFuture() : map.removeIfPresent(key, held).mapEmpty()));
    }

    /** Removes the entry. If it cannot be removed any more, its lease ends it: that is no failure. */
    @Override
    public Future<Void> close() {
      if (ended) {
        return Future.succeededFuture();
      }
      ended = true;
      leases.remove(this);
      vertx.cancelTimer(timer);
      return remove().timeout(REMOVE_MILLIS, TimeUnit.MILLISECONDS).recover(e -> {
        LOG.debug("entry of {} {} is left to its lease: {}", instance.service(), instance.id(), e.toString());
        return Future.succeededFuture();
      });
    }
  }

  /** Returns true for failures that pass when a data member joins or returns. */
  private static boolean isTransient(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      if (e instanceof HazelcastInstanceNotActiveException) {
        return false;
      }
      if (e instanceof NoDataMemberInClusterException || e instanceof RetryableHazelcastException
          || e instanceof OperationTimeoutException) {
        return true;
      }
    }
    return false;
  }
}
