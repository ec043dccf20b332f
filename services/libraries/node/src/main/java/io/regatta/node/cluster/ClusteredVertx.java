package io.regatta.node.cluster;

import com.hazelcast.core.HazelcastInstance;
import io.micrometer.core.instrument.MeterRegistry;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Stopwatch;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.address.SeedProbe;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.directory.ReadyWait;
import io.regatta.node.member.VertxMember;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.net.BindException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a Vertx with a member of a Hazelcast cluster, {@link VertxMember#under}. Its event bus is not clustered.
 * The whole start runs on one thread of its own, {@code regatta-start}, since Hazelcast joins blockingly; the thread
 * ends with the start. Closing the Vertx leaves the cluster, stops Hazelcast and frees its port.
 *
 * <p>A node that is a seed founds the cluster or joins the other seeds. Any other node waits until a seed accepts
 * connections and joins through it: if it founded a cluster of its own, services started in another order would never
 * meet. A lite node also waits for a member that holds data.
 */
public final class ClusteredVertx {

  private static final Duration TIMEOUT = Duration.ofSeconds(120);
  private static final long RETRY_MILLIS = 200;
  private static final long SAY_NANOS = 3_000_000_000L;
  private static final String SEED = "seed ";
  /** How often the settings of a cluster are adopted: each once, and again if the seed's cluster is replaced meanwhile. */
  private static final int MOST_ADOPTED = 4;
  private static final Logger LOG = LoggerFactory.getLogger(ClusteredVertx.class);

  private final ClusterConfig cluster;
  private final VertxBuilder builder;
  private final VertxOptions options;
  private final boolean lite;
  private final String who;
  private final Duration timeout;
  /** Security between members; none in the cluster of another application. */
  private final PeerSecurity security;
  private final Waits waits;
  private final Consumer<String> beforeJoin;
  private final CountDownLatch cancelled = new CountDownLatch(1);
  private final Promise<Started> promise = Promise.promise();
  private final Stopwatch started = Stopwatch.start(SystemClock.get());
  /** Runs since the last line; null: there was none. */
  private Stopwatch said;
  /** The wait shown by {@code /why} while others are waited for; null: none yet. */
  private Waits.Handle wait;

  /**
   * A join: its settings and the process that joins.
   *
   * @param timeout after which the join is abandoned
   * @param eventLoops number of event loops; 0: Vert.x's default
   * @param metrics registry of Vert.x's own metrics, or null for none
   * @param lite whether the member holds no directory entries, as trainers do
   * @param security TLS and token, with which members speak to each other
   * @param who the process that joins, for messages
   */
  public record Joining(ClusterConfig cluster, Duration timeout, int eventLoops, MeterRegistry metrics, boolean lite,
      PeerSecurity security, String who) {}

  /**
   * A running Vertx with its member.
   *
   * @param address that the member publishes
   * @param lost completes when the member has stopped although the Vertx runs
   */
  public record Started(Vertx vertx, String address, Future<Void> lost) {}

  private ClusteredVertx(Joining joining, Waits waits, Consumer<String> beforeJoin) {
    this.cluster = joining.cluster();
    this.lite = joining.lite();
    this.who = joining.who();
    this.timeout = joining.timeout();
    this.security = cluster.memberProof() ? joining.security() : PeerSecurity.NONE;
    this.waits = waits;
    this.beforeJoin = beforeJoin;
    this.options = options(joining.eventLoops(), joining.metrics());
    this.builder = builder(options, joining.metrics());
  }

  /**
   * Starts a clustered Vertx; gives up after 120 s.
   *
   * @param metrics registry of Vert.x's own metrics, or null for none
   * @param lite whether the member holds no directory entries, as trainers do
   */
  public static Future<Vertx> start(ClusterConfig cluster, MeterRegistry metrics, boolean lite) {
    Joining joining = new Joining(cluster, TIMEOUT, 0, metrics, lite, PeerSecurity.NONE,
        lite ? "a lite node" : "a node");
    return begin(joining, new Waits(), address -> { }).future().map(Started::vertx);
  }

  /**
   * Starts a clustered Vertx; the start can be cancelled. Any thread.
   *
   * @param waits registers the join while it lasts
   * @param beforeJoin called with the address that will be published, on the starting thread, where it may block; if it
   *     throws, the start fails with that
   */
  public static ClusteredVertx begin(Joining joining, Waits waits, Consumer<String> beforeJoin) {
    ClusteredVertx start = new ClusteredVertx(joining, waits, beforeJoin);
    Thread thread = new Thread(start::run, "regatta-start");
    thread.setDaemon(true);
    thread.start();
    return start;
  }

  /** Returns a Vertx without a cluster, with the same options; the parameters are those of {@link Joining}. */
  public static Vertx local(int eventLoops, MeterRegistry metrics) {
    return builder(options(eventLoops, metrics), metrics).build();
  }

  /** Completes with the Vertx. If the start fails, the future fails with the cause, and nothing is left running. */
  public Future<Started> future() {
    return promise.future();
  }

  /** Cancels the start; whatever has been started by then is stopped again. Any thread. */
  public void cancel() {
    cancelled.countDown();
  }

  private static VertxOptions options(int eventLoops, MeterRegistry metrics) {
    VertxOptions options = PlainVertx.options();
    if (eventLoops > 0) {
      options.setEventLoopPoolSize(eventLoops);
    }
    if (metrics != null) {
      options.setMetricsOptions(new MicrometerMetricsOptions().setEnabled(true));
    }
    return options;
  }

  private static VertxBuilder builder(VertxOptions options, MeterRegistry metrics) {
    VertxBuilder builder = Vertx.builder().with(options);
    return metrics == null ? builder : builder.withMetrics(new MicrometerMetricsFactory(metrics));
  }

  private void run() {
    HazelcastInstance hazelcast = null;
    try {
      PublishedAddress address = PublishedAddress.choose(cluster.address(), cluster.seedMembers());
      LOG.info("{} publishes {} ({})", who, address.address(), address.reason());
      beforeJoin.accept(address.address());
      hazelcast = join(address.address());
      if (lite) {
        awaitDataMember(hazelcast);
      }
      hazelcast.getMap(HazelcastDirectory.MAP); // made here, since its first use can block
      build(hazelcast, address.address());
    } catch (RuntimeException | Error e) {
      end(hazelcast);
      promise.tryFail(e);
    } catch (InterruptedException e) {
      end(hazelcast);
      promise.tryFail(new Cancelled(who + ": start interrupted"));
    } finally {
      if (wait != null) {
        wait.close();
      }
    }
  }

  private static void end(HazelcastInstance hazelcast) {
    if (hazelcast != null) {
      hazelcast.getLifecycleService().terminate();
    }
  }

  private void build(HazelcastInstance hazelcast, String address) {
    Vertx vertx = builder.build();
    Future<Void> lost = VertxMember.attach(vertx, hazelcast);
    if (cancelled.getCount() == 0) {
      vertx.close().onComplete(closed -> promise.tryFail(cancelledNow()));
    } else {
      promise.tryComplete(new Started(vertx, address, lost));
    }
  }

  /** Joins or founds the cluster; repeats while the seed is there but does not admit this member yet. */
  private HazelcastInstance join(String address) throws InterruptedException {
    if (!isSeed() && !cluster.seeds().isEmpty()) {
      waitsFor(SEED, cluster.seedMembers().stream().map(HostPort::toString).toList());
    }
    AgreedSettings agreed = AgreedSettings.OWN;
    int adopted = 0;
    HostPort asked = null;
    while (true) {
      HostPort required = cluster.seeds().isEmpty() ? null : awaitSeed();
      if (required != null && !required.equals(asked) && !security.hasTls()) { // TLS itself says what does not fit
        asked = required;
        JoinRefusal.check(SeedProtocol.of(required, security), who, cluster, required, !security.tokens().isNone());
      }
      JoinRefusal refusal = new JoinRefusal();
      MemberConnections connections = new MemberConnections(security, required);
      try {
        HazelcastInstance joined = HazelcastMember.start(
            HazelcastMember.config(cluster, address, resolvedSeeds(), required, lite, agreed),
            agreed, connections, refusal);
        if (refusal.isOtherName()) { // a seed founds its own cluster then
          LOG.warn("{}: one of the seeds {} belongs to a cluster of another name than {} and is left out", who,
              cluster.seeds(), cluster.name());
        }
        if (connections.refusal() != null) { // a seed founds its own cluster then
          LOG.warn("{}: one of the seeds {} is left out: {}", who, cluster.seeds(), connections.refusal());
        }
        return joined;
      } catch (RuntimeException e) {
        if (cancelled.getCount() == 0) {
          throw cancelledNow();
        }
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
          if (cause instanceof BindException || String.valueOf(cause.getMessage()).contains("already in use")) {
            throw new InvalidInput("port " + cluster.port() + " on " + address + " is in use: choose another "
                + "node.cluster.port, or 0 for any free one", e);
          }
        }
        if (!refusal.required(agreed).equals(agreed) && adopted++ < MOST_ADOPTED) {
          agreed = refusal.required(agreed); // the cluster's count, and it has just said them
          continue;
        }
        Optional<InvalidInput> permanent = refusal.error(who, cluster, required, connections.refusal());
        if (permanent.isPresent()) {
          throw permanent.get();
        }
        if (required == null) {
          throw e;
        }
        pause(SEED, List.of(required.toString()), "joining through " + required + " failed: " + e.getMessage()
            + " (is it still starting?)");
      }
    }
  }

  private boolean isSeed() {
    return cluster.seedMembers().stream().anyMatch(this::isHere);
  }

  /** Returns true if a seed is this member, under its own address or the one that the others know. */
  private boolean isHere(HostPort seed) {
    return PublishedAddress.isHere(seed, cluster.port())
        || seed.port() == cluster.port() && seed.host().equals(cluster.publishedHost());
  }

  /**
   * Returns the addresses of the seeds. One that cannot be resolved is skipped. If a name stands for several members,
   * only the listening ones count: the others wait for the member that founds the cluster, which would wait for them.
   */
  private List<HostPort> resolvedSeeds() {
    List<HostPort> resolved = new ArrayList<>();
    for (HostPort seed : cluster.seedMembers()) {
      try {
        List<HostPort> members = resolve(seed);
        members.stream().filter(member -> members.size() == 1 || isHere(member) || SeedProbe.refusal(member) == null)
            .forEach(resolved::add);
      } catch (UnknownHostException e) {
        LOG.warn("{}: seed {} cannot be resolved and is left out", who, seed);
      }
    }
    return resolved;
  }

  /** Returns the addresses of a seed: a name may stand for several members, some of which may not run. */
  private static List<HostPort> resolve(HostPort seed) throws UnknownHostException {
    InetAddress[] addresses = InetAddress.getAllByName(seed.host());
    return Arrays.stream(addresses).filter(address -> address.getClass() == addresses[0].getClass())
        .map(address -> new HostPort(address.getHostAddress(), seed.port())).toList();
  }

  /**
   * Returns the first seed that accepts connections. Returns null once this node is known to be a seed itself, which it
   * may not be before its name can be resolved.
   */
  private HostPort awaitSeed() throws InterruptedException {
    while (!isSeed()) {
      List<String> names = new ArrayList<>();
      List<String> reasons = new ArrayList<>();
      for (HostPort seed : cluster.seedMembers()) {
        String refusal = null;
        try {
          for (HostPort member : resolve(seed)) {
            refusal = SeedProbe.refusal(member);
            if (refusal == null) {
              return member;
            }
          }
        } catch (UnknownHostException e) {
          refusal = SeedProbe.reason(e);
        }
        names.add(seed.toString());
        reasons.add(seed + ": " + refusal);
      }
      pause(SEED, names, "no seed accepts connections: " + String.join("; ", reasons));
    }
    return null;
  }

  private void awaitDataMember(HazelcastInstance hazelcast) throws InterruptedException {
    while (hazelcast.getCluster().getMembers().stream().allMatch(member -> member.isLiteMember())) {
      pause("", List.of("a service that holds data"), "the Hazelcast cluster has no data member yet (start a service, not only trainers)");
    }
  }

  private void waitsFor(String kind, List<String> names) {
    List<Wait.Peer> peers = names.stream().map(name -> Wait.Peer.named(kind + name)).toList();
    if (wait == null) {
      wait = waits.begin(who, "join", "cluster " + cluster.name(), peers);
    } else {
      wait.waitsFor(peers);
    }
  }

  /**
   * Reports the wait and its reason, waits a little, and ends the start if time is up or it was cancelled.
   *
   * @param kind of the peers, which {@code /why} puts before each name
   */
  private void pause(String kind, List<String> names, String cause) throws InterruptedException {
    if (cancelled.getCount() == 0) {
      throw cancelledNow();
    }
    waitsFor(kind, names);
    if (said == null || said.nanos() >= SAY_NANOS) {
      said = Stopwatch.start(SystemClock.get());
      ReadyWait.say(LOG, names, who + " waits to join cluster " + cluster.name() + ": " + cause);
    }
    if (started.nanos() >= timeout.toNanos()) {
      throw new PeerLost(who + " gave up joining cluster " + cluster.name() + " after " + timeout.toSeconds() + " s: "
          + cause + ". Start a seed, correct node.cluster.seeds, or wait longer (node.ready_timeout_seconds)");
    }
    if (cancelled.await(RETRY_MILLIS, TimeUnit.MILLISECONDS)) {
      throw cancelledNow();
    }
  }

  private Cancelled cancelledNow() {
    return new Cancelled(who + ": start cancelled while joining cluster " + cluster.name());
  }
}
