package io.regatta.rendezvous;

import static io.regatta.rendezvous.RunningRendezvous.failure;
import static io.regatta.rendezvous.RunningRendezvous.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.core.memory.HeapBudget;
import io.regatta.node.directory.Directory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.client.KnownGroup;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GatherRequest;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.LeaseReply;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.common.GrpcMessage;
import io.vertx.grpc.common.GrpcMessageDecoder;
import io.vertx.grpc.common.GrpcMessageEncoder;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.ServiceName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The service over real connections: what the virtual clock cannot show. */
@ExtendWith(BlockedLoopGuard.class)
class RendezvousVerticleTest {
  private RunningRendezvous rendezvous = null;

  @AfterEach
  void close() {
    if (rendezvous != null) {
      rendezvous.close();
    }
  }

  private RunningRendezvous start(RendezvousConfig config) {
    rendezvous = new RunningRendezvous(config);
    return rendezvous;
  }

  private List<JoinReply> joinAll(int worldSize) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, worldSize).boxed().toList());
    Collections.shuffle(order, new Random(worldSize));
    List<Future<JoinReply>> joins = new ArrayList<>(Collections.nCopies(worldSize, null));
    order.forEach(rank -> joins.set(rank, rendezvous.join("job", worldSize, rank)));
    return joins.stream().map(RunningRendezvous::get).toList();
  }

  private BlockingQueue<GroupView> watch(String group) {
    BlockingQueue<GroupView> views = new LinkedBlockingQueue<>();
    rendezvous.client.watch(group, views::add);
    return views;
  }

  private static GroupView awaitView(BlockingQueue<GroupView> views, int rank, String state) throws Exception {
    while (true) {
      GroupView view = views.poll(10, TimeUnit.SECONDS);
      if (view == null) {
        throw new AssertionError("rank " + rank + " has not become " + state);
      }
      if (view.getMembers(rank).getState().equals(state)) {
        return view;
      }
    }
  }

  /** Groups and Watch show incarnations to everybody, and these alone end no membership. */
  @Test
  void aMemberLeavesByTheSecretThatItsJoinWasAnsweredWith() throws Exception {
    start(RendezvousConfig.defaults());
    List<JoinReply> members = joinAll(2);
    BlockingQueue<GroupView> views = watch("job");
    JoinReply victim = members.get(0);
    ByteString secret = victim.getSecret();
    assertThat(secret.size()).isEqualTo(16);
    assertThat(secret).isNotEqualTo(members.get(1).getSecret());
    for (ByteString wrong : List.of(ByteString.EMPTY, members.get(1).getSecret(), secret.substring(0, 15))) {
      assertThat(failure(rendezvous.client.leave("job", 0, victim.getIncarnation(), wrong)))
          .isInstanceOf(StaleGeneration.class)
          .hasMessageContaining("only a member itself may leave");
    }
    GroupsReply shown = get(rendezvous.client.groups());
    assertThat(shown.getGroups(0).getMembersList()).allMatch(member -> member.getState().equals("active"));
    for (ByteString all : List.of(shown.toByteString(), views.poll(10, TimeUnit.SECONDS).toByteString())) {
      assertThat(new String(all.toByteArray(), StandardCharsets.ISO_8859_1))
          .doesNotContain(new String(secret.toByteArray(), StandardCharsets.ISO_8859_1));
    }
    get(rendezvous.leave(victim));
    awaitView(views, 0, "left");
  }

  /** A monitor knows incarnations, and must not keep a member from being declared lost, nor hasten that. */
  @Test
  void aMemberIsAskedOverAWatchWithItsSecret_andOthersOnlyObserve() throws Exception {
    start(RendezvousConfig.defaults());
    JoinRequest elastic = JoinRequest.newBuilder().setGroup("job").setWorldSize(2).setMinWorldSize(2).setRank(-1)
        .setTimeoutMs(10_000).setSettleMs(1).build();
    Future<JoinReply> joining = rendezvous.client.join(elastic.toBuilder().setMember("a").build());
    JoinReply b = get(rendezvous.client.join(elastic.toBuilder().setMember("b").build()));
    JoinReply a = get(joining);
    BlockingQueue<GroupView> views = watch("job");
    for (ByteString wrong : List.of(ByteString.EMPTY, a.getSecret(), b.getSecret().substring(0, 15))) {
      rendezvous.client.follow("job", b.getIncarnation(), wrong, new KnownGroup(), view -> { });
    }
    JoinRequest again = elastic.toBuilder().setMember("a").setIncarnation(a.getIncarnation()).setSecret(a.getSecret())
        .addUnreachable(b.getIncarnation()).build();
    Future<JoinReply> next = rendezvous.client.join(again);
    get(rendezvous.client.join(elastic.toBuilder().setMember("b").setIncarnation(b.getIncarnation())
        .setSecret(b.getSecret()).build()));
    long generation = get(next).getView().getGeneration();
    for (GroupView view = views.take(); view.getGeneration() < generation; view = views.take()) {
      assertThat(view.getAskedList()).isEmpty();
    }
    rendezvous.client.follow("job", b.getIncarnation(), b.getSecret(), new KnownGroup(), view -> { });
    Future<JoinReply> third = rendezvous.client.join(again);
    while (!views.take().getAskedList().contains(b.getIncarnation())) {
      assertThat(third.isComplete()).isFalse();
    }
  }

  /** The answer to the join of a next generation holds the secret, so it is for the member alone. */
  @Test
  void aMemberJoinsTheNextGenerationByItsSecret() {
    start(RendezvousConfig.defaults());
    JoinRequest elastic = JoinRequest.newBuilder().setGroup("job").setWorldSize(2).setMinWorldSize(1).setRank(-1)
        .setMember("a")
        .setTimeoutMs(10_000).setSettleMs(1).build();
    JoinReply first = get(rendezvous.client.join(elastic));
    JoinRequest again = elastic.toBuilder().setIncarnation(first.getIncarnation()).build();
    assertThat(failure(rendezvous.client.join(again))).isInstanceOf(StaleGeneration.class);
    JoinReply next = get(rendezvous.client.join(again.toBuilder().setSecret(first.getSecret()).build()));
    assertThat(next.getIncarnation()).isEqualTo(first.getIncarnation());
    assertThat(next.getSecret()).isEqualTo(first.getSecret());
    get(rendezvous.leave(next));
  }

  private static String states(GroupView view) {
    return view.getMembersList().stream().map(Member::getState).toList().toString();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 8})
  void whenMembersJoinConcurrently_thenTheyFormOneGroupAndGatherInRankOrder(int worldSize) {
    start(RendezvousConfig.defaults());
    List<JoinReply> members = joinAll(worldSize);
    for (int rank = 0; rank < worldSize; rank++) {
      assertThat(members.get(rank).getRank()).isEqualTo(rank);
      assertThat(members.get(rank).getView().getGeneration()).isEqualTo(members.get(0).getView().getGeneration());
      assertThat(members.get(rank).getView().getMembersList()).hasSize(worldSize);
    }
    List<byte[]> payloads = IntStream.range(0, worldSize).mapToObj(rank -> new byte[rank * 100_000]).toList();
    List<Future<GatherReply>> gathers = new ArrayList<>();
    for (int i = 0; i < worldSize; i++) {
      int rank = worldSize - 1 - i;
      gathers.add(rendezvous.gather(members.get(rank), "barrier-1", payloads.get(rank)));
    }
    for (Future<GatherReply> gather : gathers) {
      assertThat(get(gather).getPayloadsList()).isEqualTo(payloads.stream().map(ByteString::copyFrom).toList());
    }
  }

  /** A client that reads nothing keeps the memory of its answer, and is seen to. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whenAMemberDoesNotReadTheAnswerOfAGather_thenItsBytesCountUntilItHasReadThemOrGone(boolean reads) {
    start(RendezvousConfig.defaults());
    JoinReply member = joinAll(1).get(0);
    awaitFreedAnswers(); // of the tests before
    Buffer message = Buffer.buffer(GatherRequest.newBuilder().setGroup("job").setIncarnation(member.getIncarnation())
        .setKey("large").setReduce("sum").setPayload(ByteString.copyFrom(new byte[4 << 20])).build().toByteArray());
    HttpClient http = rendezvous.vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false));
    HttpClientResponse answer = get(http
        .request(HttpMethod.POST, rendezvous.verticle.port(), "127.0.0.1", "/regatta.Rendezvous/Gather")
        .compose(request -> request.putHeader("content-type", "application/grpc").send(Buffer.buffer()
            .appendByte((byte) 0).appendInt(message.length()).appendBuffer(message)))
        .map(response -> {
          response.pause();
          return response;
        }));
    assertThat(HeapBudget.ANSWERS.taken()).as("all but what its connection has taken").isGreaterThanOrEqualTo(3 << 20);
    if (reads) {
      Future<Buffer> body = answer.body(); // before it flows
      answer.resume();
      assertThat(get(body).length()).isGreaterThan(4 << 20);
    } else {
      get(http.close());
    }
    awaitFreedAnswers();
  }

  private static void awaitFreedAnswers() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (HeapBudget.ANSWERS.taken() != 0 && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(HeapBudget.ANSWERS.taken()).isZero();
  }

  @Test
  void whenARankIsHeld_thenTheSecondClientGetsAReadableStatus() {
    start(RendezvousConfig.defaults());
    List<JoinReply> members = joinAll(2);
    Future<JoinReply> second = rendezvous.join("job", 2, 1);
    while (!second.isComplete()) { // the holder lives, and says so after the second one has come
      get(rendezvous.heartbeat(members.get(1), 1));
    }
    assertThat(failure(second)).isInstanceOf(Conflict.class).hasMessageContaining("rank 1 (trainer-1");
    assertThat(failure(rendezvous.join("job", 2, 2))).isInstanceOf(InvalidInput.class).hasMessageContaining("rank 2");
  }

  @Test
  void whenAMemberSendsNoHeartbeat_thenWatchersSeeItLostAndItsBarrierIsReleased() throws Exception {
    start(RunningRendezvous.hasty());
    List<JoinReply> members = joinAll(2);
    BlockingQueue<GroupView> views = watch("job");
    long beat = rendezvous.vertx.setPeriodic(50, id -> rendezvous.heartbeat(members.get(0), 7)
        .onFailure(e -> views.add(GroupView.getDefaultInstance())));
    Future<GatherReply> gather = rendezvous.gather(members.get(0), "k", new byte[1]);
    GroupView view = awaitView(views, 1, "lost");
    assertThat(view.getMembers(0).getState()).isEqualTo("active");
    assertThat(get(gather).getRanksList()).containsExactly(0);
    assertThat(failure(rendezvous.heartbeat(members.get(1), 8))).isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("declared lost");
    JoinReply again = get(rendezvous.join("job", 2, 1));
    assertThat(again.getIncarnation()).isGreaterThan(members.get(1).getIncarnation());
    rendezvous.vertx.cancelTimer(beat);
  }

  @Test
  void whenAllLeave_thenWatchesEndAndTheGroupIsGone() throws Exception {
    start(RendezvousConfig.defaults());
    List<JoinReply> members = joinAll(2);
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    rendezvous.client.watch("job", view -> events.add(states(view))).ended().onSuccess(v -> events.add("end"));
    assertThat(events.poll(10, TimeUnit.SECONDS)).isEqualTo("[active, active]");
    get(rendezvous.leave(members.get(1)));
    get(rendezvous.leave(members.get(0)));
    for (String expected : List.of("[active, left]", "[left, left]", "end")) {
      assertThat(events.poll(10, TimeUnit.SECONDS)).isEqualTo(expected);
    }
    assertThat(get(rendezvous.client.groups()).getGroupsList()).isEmpty();
    assertThat(failure(rendezvous.heartbeat(members.get(0), 0))).hasMessageContaining("no group job");
  }

  @Test
  void whenAClientDisconnectsWhileItWaits_thenItsRankIsFreeForAnother() {
    start(RendezvousConfig.defaults());
    RendezvousClient other = new RendezvousClient(new VertxNetwork(rendezvous.vertx), "127.0.0.1", rendezvous.verticle.port());
    Future<JoinReply> waiting = other.join("job", 2, 0, "first", "", 0);
    awaitWaits(1);
    get(other.close());
    awaitWaits(0);
    assertThat(failure(waiting)).isInstanceOf(PeerLost.class);
    List<JoinReply> members = joinAll(2);
    assertThat(members.get(1).getView().getMembers(0).getMember()).isEqualTo("trainer-0");
  }

  /** Asks repeatedly until this number of calls waits, as an operator would with /why; a fast machine asks often. */
  private void awaitWaits(int count) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    List<Wait> waits = get(rendezvous.node.waits().list());
    while (waits.size() != count && System.nanoTime() < end) {
      waits = get(rendezvous.node.waits().list());
    }
    assertThat(waits).hasSize(count);
  }

  @Test
  void whenTheStoreIsUsed_thenWaitsEndWhenTheKeysAreThere() {
    start(RendezvousConfig.defaults());
    joinAll(1);
    Future<?> wait = rendezvous.client.awaitKeys("job", List.of("a"), 0);
    awaitWaits(1);
    assertThat(get(rendezvous.client.groups()).getWaitsList()).singleElement()
        .asString().contains("waits at group job for key a");
    get(rendezvous.client.set("job", "a", new byte[] {1}));
    get(wait);
    assertThat(get(rendezvous.client.get("job", "a"))).hasValue(new byte[] {1});
    assertThat(get(rendezvous.client.add("job", "n", 5))).isEqualTo(5);
    assertThat(get(rendezvous.client.delete("job", "a"))).isTrue();
    assertThat(failure(rendezvous.client.get("none", "a"))).isInstanceOf(NotOwner.class)
        .hasMessageContaining("no group none");
  }

  @Test
  void whenItemsAreLeasedByManyAtOnce_thenEachGoesOutExactlyOnce() {
    start(RendezvousConfig.defaults());
    List<JoinReply> members = joinAll(4);
    List<String> files = IntStream.range(0, 50).mapToObj(i -> "file-" + i).toList();
    List<String> handedOut = Collections.synchronizedList(new ArrayList<>());
    List<Future<Void>> workers = members.stream().map(m -> work(m, files, List.of(), handedOut)).toList();
    get(Future.all(workers));
    assertThat(handedOut).hasSameElementsAs(files).doesNotHaveDuplicates();
  }

  private Future<Void> work(JoinReply member, List<String> files, List<String> done, List<String> handedOut) {
    Future<LeaseReply> asked =
        rendezvous.client.lease("job", member.getRank(), member.getIncarnation(), "files", files, done, List.of());
    return asked.compose(reply -> {
      if (reply.getFinished()) {
        return Future.succeededFuture();
      }
      if (reply.getItem().isEmpty()) {
        return work(member, files, List.of(), handedOut);
      }
      handedOut.add(reply.getItem());
      return work(member, files, List.of(reply.getItem()), handedOut);
    });
  }

  @Test
  void whenTheServiceStops_thenWhoWaitsIsToldAndTheDirectoryForgetsIt() throws Exception {
    start(RendezvousConfig.defaults());
    Directory.Instance announced = get(rendezvous.directory.list(Directory.RENDEZVOUS)).get(0);
    assertThat(announced.controlPort()).isEqualTo(rendezvous.verticle.port());
    List<JoinReply> members = joinAll(2);
    Future<GatherReply> gather = rendezvous.gather(members.get(0), "k", new byte[0]);
    awaitWaits(1);
    rendezvous.stop();
    assertThat(failure(gather)).isInstanceOf(PeerLost.class).hasMessageContaining("shutting down");
    assertThat(get(rendezvous.directory.list(Directory.RENDEZVOUS))).isEmpty();
    assertThat(get(rendezvous.node.waits().list())).isEmpty();
  }

  @Test
  void whenThePortIsTaken_thenTheStartFailsWithOneReadableLine() {
    start(RendezvousConfig.defaults());
    RendezvousConfig taken = RendezvousConfig.defaults().withPort(rendezvous.verticle.port());
    Throwable refused = failure(rendezvous.vertx.deployVerticle(new RendezvousVerticle(rendezvous.node, taken)));
    assertThat(refused).isInstanceOf(InvalidInput.class).hasMessageContaining("127.0.0.1:" + taken.port());
  }

  @Test
  void whenAnotherRendezvousAnswers_thenTheSecondIsRefusedNamingIt() {
    start(RendezvousConfig.defaults());
    String first = "127.0.0.1:" + rendezvous.verticle.port();
    assertThat(failure(rendezvous.vertx.deployVerticle(
        new RendezvousVerticle(rendezvous.node, RunningRendezvous.hasty())))).isInstanceOf(Conflict.class)
        .hasMessageContaining("rendezvous is at " + first).hasMessageContaining("node.cluster.name");
    assertThat(get(rendezvous.directory.list(Directory.RENDEZVOUS))).extracting(Directory.Instance::endpoint)
        .containsExactly(first);
    rendezvous.stop();
    get(rendezvous.vertx.deployVerticle(new RendezvousVerticle(rendezvous.node, RunningRendezvous.hasty())));
  }

  @Test
  void whenAnotherClustersRendezvousListensOnTheHoldersPort_thenTheHolderIsDead() {
    start(RendezvousConfig.defaults());
    try (RunningRendezvous another = new RunningRendezvous(RendezvousConfig.defaults())) {
      rendezvous.stop();
      get(rendezvous.directory.registerSole(new Directory.Instance(Directory.RENDEZVOUS, "dead", 0, "127.0.0.1",
          another.verticle.port(), 1, Map.of()), holder -> Future.succeededFuture(false), ""));
      RendezvousVerticle newcomer = new RendezvousVerticle(rendezvous.node, RunningRendezvous.hasty());
      get(rendezvous.vertx.deployVerticle(newcomer));
      assertThat(get(rendezvous.directory.list(Directory.RENDEZVOUS))).extracting(Directory.Instance::controlPort)
          .containsExactly(newcomer.port());
    }
  }

  @Test
  void whenARequestIsGarbageOrTooLarge_thenItIsRefusedAndTheOthersGoOn() {
    start(RendezvousConfig.defaults());
    List<JoinReply> members = joinAll(1);
    assertThat(status(Buffer.buffer("\377\377 this is no message"))).isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    assertThat(status(Buffer.buffer(new byte[9 << 20]))).isNotEqualTo(GrpcStatus.OK);
    get(rendezvous.heartbeat(members.get(0), 1));
  }

  private GrpcStatus status(Buffer payload) {
    ServiceMethod<Buffer, Buffer> raw = ServiceMethod.client(ServiceName.create("regatta", "Rendezvous"), "Join",
        GrpcMessageEncoder.IDENTITY, GrpcMessageDecoder.IDENTITY);
    GrpcClient grpc = GrpcClient.client(rendezvous.vertx);
    return get(grpc.request(SocketAddress.inetSocketAddress(rendezvous.verticle.port(), "127.0.0.1"), raw)
        .compose(request -> {
          request.endMessage(GrpcMessage.message("identity", payload));
          return request.response();
        })
        .compose(response -> response.end().transform(end -> Future.succeededFuture(response.status())))
        .otherwise(broken -> null).eventually(grpc::close));
  }

  @Test
  void aStockGrpcJavaClientJoinsAndGetsReadableErrors() {
    start(RendezvousConfig.defaults());
    ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", rendezvous.verticle.port()).usePlaintext()
        .build();
    try {
      MethodDescriptor<JoinRequest, JoinReply> join = MethodDescriptor.<JoinRequest, JoinReply>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("regatta.Rendezvous/Join")
          .setRequestMarshaller(ProtoUtils.marshaller(JoinRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(JoinReply.getDefaultInstance())).build();
      JoinRequest request = JoinRequest.newBuilder().setGroup("stock").setWorldSize(1).setMember("grpc-java").build();
      JoinReply reply = ClientCalls.blockingUnaryCall(channel, join, CallOptions.DEFAULT, request);
      assertThat(reply.getView().getMembersList()).extracting(Member::getMember).containsExactly("grpc-java");
      JoinRequest larger = request.toBuilder().setWorldSize(2).build();
      assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, join, CallOptions.DEFAULT, larger))
          .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
            assertThat(e.getStatus().getDescription()).contains("group stock has world size 1").contains("with world size 2");
          });
      JoinRequest alone = JoinRequest.newBuilder().setGroup("other").setWorldSize(2).setMember("alone").setTimeoutMs(1)
          .build();
      assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, join, CallOptions.DEFAULT, alone))
          .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
            Status.Code lost = Status.Code.valueOf(ErrorMapping.status(new PeerLost("x")).name());
            assertThat(e.getStatus().getCode()).isEqualTo(lost);
            assertThat(e.getStatus().getDescription()).contains("missing ranks: 1");
          });
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void theGroupsReplyShowsEveryGroup() {
    start(RendezvousConfig.defaults());
    joinAll(2);
    get(rendezvous.join("another", 1, 0));
    GroupsReply reply = get(rendezvous.client.groups());
    assertThat(reply.getGroupsList()).extracting(GroupView::getGroup).containsExactly("another", "job");
  }
}
