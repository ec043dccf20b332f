package io.regatta.protocol.client;

import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.network.Watch;
import io.regatta.protocol.rendezvous.AddReply;
import io.regatta.protocol.rendezvous.AddRequest;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.WatchRequest;
import io.regatta.protocol.stream.FreezableProxy;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.Context;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.VertxInternal;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Control calls against a stock grpc-java server: answers, statuses with their text, watches, lost and frozen peers. */
class ControlCallsTest {
  private static final StreamOptions QUICK = StreamOptions.defaults().with(s -> s.pingIntervalMillis(20).pingTimeoutMillis(300));
  private static final MethodDescriptor<AddRequest, AddReply> ADD = MethodDescriptor.<AddRequest, AddReply>newBuilder()
      .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("regatta.Rendezvous/Add")
      .setRequestMarshaller(ProtoUtils.marshaller(AddRequest.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(AddReply.getDefaultInstance())).build();
  private static final MethodDescriptor<WatchRequest, GroupView> WATCH =
      MethodDescriptor.<WatchRequest, GroupView>newBuilder().setType(MethodDescriptor.MethodType.SERVER_STREAMING)
          .setFullMethodName("regatta.Rendezvous/Watch")
          .setRequestMarshaller(ProtoUtils.marshaller(WatchRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(GroupView.getDefaultInstance())).build();

  private final Loop loop = new Loop();
  private final Counters counters = new Counters();
  private Server server;

  /** Adds; group {@code bad} is refused, group {@code mute} never answered. Watches are the test's to answer. */
  private static final class Counters implements BindableService {
    final BlockingQueue<ServerCallStreamObserver<GroupView>> watchers = new LinkedBlockingQueue<>();
    final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();

    void add(AddRequest request, StreamObserver<AddReply> answer) {
      switch (request.getGroup()) {
        case "bad" -> answer.onError(Status.INVALID_ARGUMENT.withDescription("größer + 100 %").asRuntimeException());
        case "silent" -> answer.onError(Status.ABORTED.asRuntimeException());
        case "mute" -> { }
        default -> {
          answer.onNext(AddReply.newBuilder().setValue(40 + request.getDelta()).build());
          answer.onCompleted();
        }
      }
    }

    void watch(WatchRequest request, StreamObserver<GroupView> views) {
      ServerCallStreamObserver<GroupView> watcher = (ServerCallStreamObserver<GroupView>) views;
      watcher.setOnCancelHandler(() -> cancelled.add(request.getGroup()));
      watchers.add(watcher);
    }

    @Override
    public ServerServiceDefinition bindService() {
      return ServerServiceDefinition.builder("regatta.Rendezvous").addMethod(ADD, ServerCalls.asyncUnaryCall(this::add))
          .addMethod(WATCH, ServerCalls.asyncServerStreamingCall(this::watch)).build();
    }
  }

  @BeforeEach
  void serve() throws Exception {
    server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0)).addService(counters)
        .permitKeepAliveTime(1, TimeUnit.MILLISECONDS).build().start(); // else it ends a connection with quick PINGs
  }

  @AfterEach
  void close() throws Exception {
    server.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
    loop.close();
  }

  @Test
  void answers_come_back_on_the_callers_context() throws Exception {
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", server.getPort());
    assertThat(get(client.add("job", "key", 2))).isEqualTo(42);
    Context other = ((VertxInternal) loop.vertx).createEventLoopContext();
    Promise<Context> where = Promise.promise();
    other.runOnContext(v -> client.add("job", "key", 1).onComplete(r -> where.complete(loop.vertx.getOrCreateContext())));
    assertThat(get(where.future())).isSameAs(other);
  }

  @Test
  void statuses_become_our_errors_with_their_text() {
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", server.getPort());
    assertThatThrownBy(() -> get(client.add("bad", "key", 1))).isInstanceOf(InvalidInput.class)
        .hasMessage("größer + 100 %");
    assertThatThrownBy(() -> get(client.add("silent", "key", 1))).isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("rendezvous at 127.0.0.1:" + server.getPort()).hasMessageContaining("Add")
        .hasMessageContaining("ABORTED");
    assertThatThrownBy(() -> get(client.get("job", "key"))).as("a method that the server has not")
        .isInstanceOf(InvalidInput.class).hasMessageContaining("Rendezvous/Get");
  }

  @Test
  void a_watch_delivers_views_until_it_is_cancelled() throws Exception {
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", server.getPort());
    BlockingQueue<Long> generations = new LinkedBlockingQueue<>();
    Watch watch = client.watch("job", view -> generations.add(view.getGeneration()));
    ServerCallStreamObserver<GroupView> server = counters.watchers.poll(20, TimeUnit.SECONDS);
    for (long g = 1; g <= 3; g++) {
      server.onNext(GroupView.newBuilder().setGeneration(g).build());
      assertThat(generations.poll(20, TimeUnit.SECONDS)).isEqualTo(g);
    }
    assertThat(watch.ended().isComplete()).isFalse();
    watch.cancel();
    get(watch.ended());
    assertThat(counters.cancelled.poll(20, TimeUnit.SECONDS)).isEqualTo("job");
    assertThat(get(client.add("job", "key", 2))).as("the connection lives").isEqualTo(42);
  }

  @Test
  void a_watch_that_the_server_breaks_off_says_why_after_the_views_before() throws Exception {
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", server.getPort());
    BlockingQueue<Long> generations = new LinkedBlockingQueue<>();
    Watch watch = client.watch("job", view -> generations.add(view.getGeneration()));
    ServerCallStreamObserver<GroupView> server = counters.watchers.poll(20, TimeUnit.SECONDS);
    server.onNext(GroupView.newBuilder().setGeneration(1).build());
    server.onError(Status.FAILED_PRECONDITION.withDescription("größer + anderswo").asRuntimeException());
    assertThatThrownBy(() -> get(watch.ended())).isInstanceOf(NotOwner.class).hasMessage("größer + anderswo");
    assertThat(generations).containsExactly(1L);
    Watch ended = client.watch("job", view -> { });
    counters.watchers.poll(20, TimeUnit.SECONDS).onCompleted();
    get(ended.ended());
  }

  @Test
  void a_watch_by_differences_breaks_when_a_view_was_missed() throws Exception {
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", server.getPort());
    KnownGroup known = new KnownGroup();
    BlockingQueue<Long> numbers = new LinkedBlockingQueue<>();
    Watch watch = client.follow("job", known, view -> numbers.add(known.number()));
    ServerCallStreamObserver<GroupView> server = counters.watchers.poll(20, TimeUnit.SECONDS);
    server.onNext(GroupView.newBuilder().setNumber(5).build());
    server.onNext(GroupView.newBuilder().setNumber(6).setSince(5).build());
    server.onNext(GroupView.newBuilder().setNumber(8).setSince(7).build());
    assertThatThrownBy(() -> get(watch.ended())).isInstanceOf(PeerLost.class).hasMessageContaining("group job")
        .hasMessageContaining("after view 6").hasMessageContaining("since view 7");
    assertThat(numbers).containsExactly(5L, 6L);
    assertThat(counters.cancelled.poll(20, TimeUnit.SECONDS)).isEqualTo("job");
  }

  @Test
  void a_lost_peer_is_named() throws Exception {
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", server.getPort());
    Watch watch = client.watch("job", view -> { });
    counters.watchers.poll(20, TimeUnit.SECONDS);
    var waiting = client.add("mute", "key", 1);
    String peer = "rendezvous at 127.0.0.1:" + server.getPort();
    server.shutdownNow();
    assertThatThrownBy(() -> get(watch.ended())).isInstanceOf(PeerLost.class);
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(PeerLost.class);
    server.awaitTermination(20, TimeUnit.SECONDS);
    assertThatThrownBy(() -> get(client.add("job", "key", 1))).isInstanceOf(PeerLost.class).hasMessageContaining(peer)
        .hasMessageContaining("Add");
  }

  /** As a server does with a connection that has not authenticated in time, while its first call is on its way. */
  @Test
  void repeats_a_call_once_when_the_peer_ends_the_connection_before_it_sees_one() throws Exception {
    AtomicInteger unseen = new AtomicInteger(1);
    AtomicInteger requests = new AtomicInteger();
    int port = get(loop.vertx.createHttpServer().requestHandler(request -> {
      requests.incrementAndGet();
      if (unseen.getAndDecrement() > 0) {
        request.connection().goAway(0, 0);
        return;
      }
      byte[] answer = AddReply.newBuilder().setValue(42).build().toByteArray();
      request.response().putHeader("content-type", "application/grpc").putTrailer("grpc-status", "0").setChunked(true)
          .end(Buffer.buffer().appendByte((byte) 0).appendInt(answer.length).appendBytes(answer));
    }).listen(0, "127.0.0.1")).actualPort();
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", port);
    assertThat(get(client.add("job", "key", 2))).isEqualTo(42);
    assertThat(requests).hasValue(2);
    unseen.set(2);
    RendezvousClient other = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", port);
    assertThatThrownBy(() -> get(other.add("job", "key", 2))).isInstanceOf(PeerLost.class);
    assertThat(requests).as("repeated once").hasValue(4);
  }

  /** A peer that ends a connection after it has seen the call may have carried it out. */
  @Test
  void does_not_repeat_a_call_when_the_peer_has_seen_it() throws Exception {
    AtomicInteger requests = new AtomicInteger();
    int port = get(loop.vertx.createHttpServer().requestHandler(request -> {
      requests.incrementAndGet();
      request.connection().goAway(0, 1);
      request.connection().close();
    }).listen(0, "127.0.0.1")).actualPort();
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx), "127.0.0.1", port);
    assertThatThrownBy(() -> get(client.add("job", "key", 2))).isInstanceOf(PeerLost.class);
    assertThat(requests).hasValue(1);
  }

  @Test
  void a_frozen_peer_is_noticed() throws Exception {
    FreezableProxy proxy = new FreezableProxy(loop.vertx, server.getPort());
    RendezvousClient client = new RendezvousClient(new VertxNetwork(loop.vertx, QUICK), "127.0.0.1", proxy.port());
    Watch watch = client.watch("job", view -> { });
    counters.watchers.poll(20, TimeUnit.SECONDS);
    proxy.freeze();
    assertThatThrownBy(() -> get(watch.ended())).isInstanceOf(PeerLost.class)
        .hasMessageContaining("rendezvous at 127.0.0.1:" + proxy.port()).hasMessageContaining("has not answered for");
  }

  @Test
  void a_peer_that_never_speaks_is_given_up() throws Exception {
    StreamOptions hasty = StreamOptions.defaults()
        .with(s -> s.pingIntervalMillis(50).pingTimeoutMillis(200).connectTimeoutMillis(300));
    int port = get(loop.vertx.createNetServer().connectHandler(s -> s.pause()).listen(0, "127.0.0.1")).actualPort();
    ParameterServerControl control = new ParameterServerControl(new VertxNetwork(loop.vertx, hasty), "127.0.0.1", port);
    assertThatThrownBy(() -> get(control.shardMap())).isInstanceOf(PeerLost.class)
        .hasMessageContaining("parameter server at 127.0.0.1:" + port);
  }
}
