package io.regatta.fleet;

import io.regatta.protocol.testing.HostileClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomGenerator;
import net.jqwik.api.Tuple;

/**
 * Recorded connections, of which frames and requests are changed at random. A part of each is sent as it was. From some
 * frame on most are mutated, so that changes reach what valid calls have opened before. The server must close each in
 * time after its client has ended its side. Owned by one thread.
 */
final class MutatedTraffic implements AutoCloseable {

  private static final int FRAMES_OF_A_CONNECTION = 50;
  private static final int GENERATIONS = 1000;
  private static final int HEAD = 9;
  private static final int[] LENGTHS = {0, 1, 8, 0xff, 0x4000, 0x4001, 0xffff, 0xffffff};
  /** A connection that is open for longer is put aside, and the next one is sent. */
  private static final int MOMENT_MILLIS = 100;
  private static final int MOST_ASIDE = 200;

  /** Ways to change a frame. Those that shift or swallow what follows are seldom, or little would be parsed. */
  private enum Way {
    FLIP, SET, SET_HEAD, MESSAGE_LENGTH, NUMBER, INSERT, DELETE, REPEAT_PART, CUT, LENGTH, TWICE, SPLICE
  }

  /** One change; place and size are parts of the frame's length. */
  private record Change(Way way, double place, double size, int value) {}

  /** A connection that is sent. */
  private record Plan(List<byte[]> frames, double begin, List<List<Change>> changes, byte[] other) {}

  /** A connection that the server has not closed yet. */
  private record Open(int port, HostileClient client) {}

  private final RandomGenerator<Plan> plans;
  private final Connector connector;
  private final int closedWithinMillis;
  private final Deque<Open> aside = new ArrayDeque<>();
  private final Map<Integer, Integer> late = new TreeMap<>();
  private final Map<Integer, Integer> answered = new TreeMap<>();
  private int connections;

  /**
   * @param recordings connections that are mutated
   * @param closedWithinMillis budget of time of a connection
   */
  MutatedTraffic(List<Recording> recordings, Connector connector, int closedWithinMillis) {
    this.connector = connector;
    this.closedWithinMillis = closedWithinMillis;
    Arbitrary<Way> way = Arbitraries.frequency(Tuple.of(12, Way.FLIP), Tuple.of(12, Way.SET), Tuple.of(4, Way.SET_HEAD),
        Tuple.of(6, Way.MESSAGE_LENGTH), Tuple.of(8, Way.NUMBER), Tuple.of(2, Way.INSERT), Tuple.of(2, Way.DELETE),
        Tuple.of(2, Way.REPEAT_PART), Tuple.of(2, Way.CUT), Tuple.of(1, Way.LENGTH), Tuple.of(3, Way.TWICE),
        Tuple.of(2, Way.SPLICE));
    Arbitrary<Double> part = Arbitraries.doubles().between(0, 1);
    Arbitrary<Change> change = Combinators.combine(way, part, part, Arbitraries.integers()).as(Change::new);
    Arbitrary<List<List<Change>>> changes = change.list().ofMaxSize(2).list()
        .ofSize(FRAMES_OF_A_CONNECTION);
    List<List<byte[]>> frames = recordings.stream().map(Recording::frames).toList();
    Arbitrary<byte[]> other = Arbitraries.of(frames.stream().flatMap(List::stream).toList());
    plans = Combinators.combine(Arbitraries.of(frames), part, changes, other).as(Plan::new).generator(GENERATIONS);
  }

  /**
   * Sends connections to one port after the other until a number of frames has been changed, and waits for the end of each.
   *
   * @return number of frames and requests that were changed
   */
  int send(List<Integer> ports, int frames, Random random) throws IOException {
    int sent = 0;
    while (sent < frames) {
      sent += send(ports.get(connections++ % ports.size()), random);
    }
    awaitEnds();
    return sent;
  }

  private int send(int port, Random random) throws IOException {
    Plan plan = plans.next(random).value();
    int from = Math.min(plan.frames().size() - 1, (int) (plan.begin() * plan.begin() * plan.frames().size()));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int changed = 0;
    for (int i = 0; i < plan.frames().size() && changed < FRAMES_OF_A_CONNECTION; i++) {
      byte[] frame = plan.frames().get(i);
      List<Change> changes = i < from ? List.of() : plan.changes().get(i % FRAMES_OF_A_CONNECTION);
      for (Change change : changes) {
        frame = change(frame, change, plan.other());
      }
      changed += changes.isEmpty() ? 0 : 1;
      bytes.writeBytes(frame);
    }
    HostileClient client = connector.connect(port, plan.frames().get(0));
    client.send(bytes.toByteArray());
    client.halfClose();
    aside.add(new Open(port, client));
    if (client.endsWithin(MOMENT_MILLIS)) {
      end(aside.removeLast());
    } else if (aside.size() == MOST_ASIDE) {
      awaitEnds();
    }
    return changed;
  }

  private void awaitEnds() throws IOException {
    for (Open open = aside.poll(); open != null; open = aside.poll()) {
      end(open);
    }
  }

  private void end(Open open) throws IOException {
    try (HostileClient client = open.client()) {
      int bytes = client.awaitEndWithin(closedWithinMillis).length;
      answered.merge(open.port(), bytes > 0 ? 1 : 0, Integer::sum);
    } catch (SocketTimeoutException e) {
      late.merge(open.port(), 1, Integer::sum);
    }
  }

  /** Returns how many connections of each port were not closed in time; a port without any is not named. */
  Map<Integer, Integer> late() {
    return late;
  }

  /** Returns how many connections each port has answered with a byte or more. */
  Map<Integer, Integer> answered() {
    return answered;
  }

  @Override
  public void close() throws IOException {
    for (Open open : aside) {
      open.client().close();
    }
  }

  private static byte[] change(byte[] frame, Change change, byte[] other) {
    if (frame.length == 0) {
      return frame;
    }
    int at = Math.min(frame.length - 1, (int) (change.place() * frame.length));
    int size = Math.min(frame.length - at, 1 + (int) (change.size() * 32));
    byte[] bytes = frame.clone();
    switch (change.way()) {
      case FLIP -> bytes[at] ^= (byte) (1 << (change.value() & 7));
      case SET -> bytes[at] = (byte) change.value();
      case SET_HEAD -> bytes[Math.min(frame.length - 1, 3 + Math.floorMod(change.value(), 6))] =
          (byte) (change.value() >> Byte.SIZE);
      case MESSAGE_LENGTH -> put(bytes, HEAD, Integer.BYTES + 1, change.value());
      case NUMBER -> Arrays.fill(bytes, at, Math.min(bytes.length, at + 5), (byte) 0xff);
      case INSERT -> bytes = join(frame, at, Arrays.copyOfRange(other, 0, Math.min(size, other.length)), at);
      case DELETE -> bytes = join(frame, at, new byte[0], at + size);
      case REPEAT_PART -> bytes = join(frame, at, Arrays.copyOfRange(frame, at, at + size), at);
      case CUT -> bytes = Arrays.copyOf(frame, at);
      case LENGTH -> put(bytes, 0, 3, LENGTHS[Math.floorMod(change.value(), LENGTHS.length)]);
      case TWICE -> bytes = join(frame, frame.length, frame, frame.length);
      case SPLICE -> bytes = other;
    }
    return bytes;
  }

  private static void put(byte[] bytes, int at, int width, int value) {
    for (int i = 0; i < width && at + i < bytes.length; i++) {
      bytes[at + i] = (byte) (value >> Byte.SIZE * (width - 1 - i));
    }
  }

  private static byte[] join(byte[] frame, int until, byte[] between, int from) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(frame, 0, until);
    out.writeBytes(between);
    out.write(frame, from, frame.length - from);
    return out.toByteArray();
  }
}
