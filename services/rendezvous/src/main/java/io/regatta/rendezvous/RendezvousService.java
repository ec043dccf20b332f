package io.regatta.rendezvous;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.regatta.core.loop.Deadline;
import io.regatta.core.loop.Timer;
import io.regatta.node.Node;
import io.regatta.node.address.PortGuest;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.Registration;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.call.RequestLimits;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.RendezvousGrpcService;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.rendezvous.http.HttpStoreConfig;
import io.regatta.rendezvous.http.KeyValueServer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rendezvous on a port that another component opens: owns {@link Groups} on the event loop of that port, answers
 * their calls and lets their time pass.
 */
public final class RendezvousService implements PortGuest {
  private static final Logger LOG = LoggerFactory.getLogger(RendezvousService.class);
  private static final PeerLog MEMBERS = PeerLog.ofEvents(LOG);
  private static final long MEASURE_MILLIS = 1000;
  private static final long IDLE_POLL_MILLIS = 20;
  /** Time before the remaining members are logged: members that leave together do so within moments. */
  private static final long IDLE_NOTICE_MILLIS = 1000;
  private static final long IDLE_SLOW_POLL_MILLIS = 200;
  /** Limit for the answer of another rendezvous, before its place is taken. */
  private static final long ANSWER_MILLIS = 2000;

  private final Node node;
  private final Vertx vertx;
  private final RendezvousConfig config;
  private final List<Meter> meters = new ArrayList<>();
  private final AtomicLong openGroups = new AtomicLong();
  private final AtomicLong activeMembers = new AtomicLong();
  private final AtomicLong waitingCalls = new AtomicLong();
  private final List<KeyValueServer> httpStores = new ArrayList<>();
  private final Promise<String> finished = Promise.promise();
  private VertxLoop loop;
  private RendezvousGroups rendezvous;
  private Hosted.Service hosted;
  private Groups groups;
  private volatile int glooPort = HttpStoreConfig.OFF;
  private volatile int launchPort = HttpStoreConfig.OFF;
  private Registration registration;
  private Waits.Source waits;
  private Timer measurer = Timer.NONE;

  /** Creates a rendezvous on the node's host. */
  public RendezvousService(Node node, RendezvousConfig config) {
    this.node = node;
    this.vertx = node.vertx();
    this.config = config;
  }

  @Override
  public void begin(Context owner, GrpcCalls calls) {
    loop = VertxLoop.of(owner);
    rendezvous = new RendezvousGroups(loop, config);
    groups = rendezvous.groups();
    hosted = node.starting(Directory.RENDEZVOUS);
    rendezvous.bind(calls.service(RendezvousGrpcService.SERVICE_DESCRIPTOR, hosted::isServing,
        new RequestLimits(config.messageBytes(), config.limits().names(), "rendezvous.limits.names")));
  }

  @Override
  public Future<Void> listens(int port) {
    return httpStores()
        .compose(v -> {
          waits = node.waits().source(loop, groups::waits);
          gauge("regatta.rendezvous.groups", "open groups", openGroups);
          gauge("regatta.rendezvous.members", "active members of all groups", activeMembers);
          gauge("regatta.rendezvous.waiting.calls", "joins, gathers and other calls that wait for members", waitingCalls);
          rendezvous.start();
          measurer = loop.every(MEASURE_MILLIS, this::measure);
          return node.directory().registerSole(new Directory.Instance(Directory.RENDEZVOUS, UUID.randomUUID().toString(), 0,
              node.host(), port, groups.incarnation(), Map.of()), this::answers,
              "a cluster has one: end that one, or give this one another node.cluster.name");
        })
        .onSuccess(registered -> {
          registration = registered;
          hosted.serves();
          registered.lost().onSuccess(hosted::lacks);
          LOG.info("rendezvous serves on {}:{}", node.host(), port);
        })
        .onFailure(this::failed)
        .mapEmpty();
  }

  /** Notes that it cannot be started, and the reason, which {@code /ready} shows. */
  void failed(Throwable why) {
    hosted.failed(why);
  }

  /** Starts the configured servers, one after the other. */
  private Future<Void> httpStores() {
    HttpStoreConfig http = config.http();
    if (http.open() && (http.glooPort() != HttpStoreConfig.OFF || http.launchPort() != HttpStoreConfig.OFF)
        && (node.security().hasTls() || !node.security().token().isNone())) {
      LOG.warn("the key-value servers of rendezvous.http on {} are open (rendezvous.http.open): without TLS, without a token", node.host());
    }
    return Future.<Void>succeededFuture()
        .compose(v -> http.glooPort() == HttpStoreConfig.OFF ? Future.succeededFuture()
            : KeyValueServer.gloo(vertx, node.bind(), http, rendezvous.clock(), node.security()).onSuccess(server -> {
              httpStores.add(server);
              glooPort = server.port();
            }))
        .compose(v -> http.launchPort() == HttpStoreConfig.OFF ? Future.succeededFuture()
            : KeyValueServer.launch(vertx, node.bind(), http, rendezvous.clock(), node.security()).onSuccess(server -> {
              httpStores.add(server);
              launchPort = server.port();
            }))
        .mapEmpty();
  }

  /**
   * Returns the port of gloo's key-value server, once it listens; {@link HttpStoreConfig#OFF} if there is none. Any
   * thread.
   */
  public int glooPort() {
    return glooPort;
  }

  /**
   * Returns the port of launch's key-value server, once it listens; {@link HttpStoreConfig#OFF} if there is none. Any
   * thread.
   */
  public int launchPort() {
    return launchPort;
  }

  /** Returns whether the other rendezvous answers; a different process that now listens on its port does not count. */
  private Future<Boolean> answers(Directory.Instance other) {
    RendezvousClient client = new RendezvousClient(node.network(), other.host(), other.controlPort());
    return client.groups().timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
        .map(reply -> reply.getIncarnation() == other.incarnation())
        .eventually(client::close);
  }

  private void gauge(String name, String description, AtomicLong value) {
    meters.add(Gauge.builder(name, value, AtomicLong::get).description(description).register(node.metrics()));
  }

  /** Completes, with a line for the user, when the job that this rendezvous lives for has ended. */
  Future<String> finished() {
    return finished.future();
  }

  /** See {@link RendezvousVerticle#idle}. */
  @Override
  public Future<Void> idle() {
    Promise<Void> idle = Promise.promise();
    Deadline notice = Deadline.inMillis(loop.clock(), IDLE_NOTICE_MILLIS);
    loop.execute(() -> awaitIdle(idle, notice, ""));
    return idle.future();
  }

  private void awaitIdle(Promise<Void> idle, Deadline notice, String told) {
    if (groups.activeMembers() == 0) {
      idle.complete();
      return;
    }
    if (!notice.isPast()) {
      loop.after(IDLE_POLL_MILLIS, () -> awaitIdle(idle, notice, told));
      return;
    }
    String members = members(groups.status(""));
    if (!members.equals(told)) {
      MEMBERS.info("the rendezvous stays until all have left: {} (Ctrl-C ends it now)", members);
    }
    loop.after(IDLE_SLOW_POLL_MILLIS, () -> awaitIdle(idle, notice, members));
  }

  /** Returns the active members, as in {@code group line: rank 0, rank 2}. */
  private static String members(GroupsReply all) {
    return all.getGroupsList().stream().map(group -> "group " + group.getGroup() + ": " + group.getMembersList().stream()
        .filter(member -> member.getState().equals("active")).map(member -> "rank " + member.getRank())
        .collect(Collectors.joining(", "))).collect(Collectors.joining("; "));
  }

  private void measure() {
    openGroups.set(groups.size());
    activeMembers.set(groups.activeMembers());
    waitingCalls.set(groups.waits().size());
    if (config.lifetime() == RendezvousConfig.Lifetime.JOB && groups.isDone()) {
      finished.tryComplete("rendezvous ends: its job has ended (rendezvous.lifetime=endless keeps it)");
    }
  }

  @Override
  public Future<Void> end() {
    hosted.stopped();
    rendezvous.stop();
    measurer.cancel();
    meters.forEach(node.metrics()::remove);
    if (waits != null) {
      waits.close();
    }
    Future<Void> unregistered = registration == null ? Future.succeededFuture() : registration.close();
    return unregistered.transform(done -> {
      rendezvous.close();
      return Future.join(httpStores.stream().map(KeyValueServer::close).toList()).mapEmpty();
    });
  }
}
