package io.regatta.protocol.stream.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.stream.request.RequestMemory.Room;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class RequestMemoryTest {

  private static final long LIMIT = 100;

  @Test
  void aRequestBeyondTheLimitWaitsForThoseBeforeIt() {
    RequestMemory memory = new RequestMemory(LIMIT);
    Room first = memory.take(60);
    Room second = memory.take(60);
    Room third = memory.take(10);
    assertThat(first.isGranted()).isTrue();
    assertThat(second.isGranted()).isFalse();
    assertThat(third.isGranted()).as("in the order of arrival").isFalse();
    first.giveBack();
    first.giveBack();
    assertThat(second.isGranted()).isTrue();
    assertThat(third.isGranted()).isTrue();
    assertThat(memory.taken()).isEqualTo(70);
  }

  @Test
  void aRequestThatNoLongerWaitsHoldsNobodyBack() {
    RequestMemory memory = new RequestMemory(LIMIT);
    memory.take(60);
    Room second = memory.take(60);
    Room third = memory.take(40);
    second.giveBack();
    assertThat(third.isGranted()).isTrue();
    assertThat(memory.taken()).isEqualTo(100);
    assertThat(second.granted().isComplete()).isFalse();
  }

  @Test
  void oneRequestHasRoomWhateverItsSize() {
    RequestMemory memory = new RequestMemory(LIMIT);
    Room large = memory.take(1000);
    assertThat(large.isGranted()).isTrue();
    Room small = memory.take(1);
    assertThat(small.isGranted()).isFalse();
    large.giveBack();
    assertThat(small.isGranted()).isTrue();
  }

  @Test
  void memoryIsKeptUpToTheLimit() {
    RequestMemory memory = new RequestMemory(LIMIT);
    assertThat(memory.keep(60)).isTrue();
    assertThat(memory.keep(60)).isFalse();
    memory.keptNoMore(60);
    assertThat(memory.keep(100)).isTrue();
    assertThat(memory.take(100).isGranted()).as("counted apart").isTrue();
  }

  @Property(tries = 200)
  void noMoreIsTakenThanTheLimit_andNobodyWaitsForEver(@ForAll long seed) {
    Random random = new Random(seed);
    RequestMemory memory = new RequestMemory(LIMIT);
    List<Room> rooms = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      if (rooms.isEmpty() || random.nextBoolean()) {
        rooms.add(memory.take(random.nextInt((int) LIMIT + 1)));
      } else {
        rooms.remove(random.nextInt(rooms.size())).giveBack();
      }
      assertThat(memory.taken()).isLessThanOrEqualTo(LIMIT);
    }
    for (Room room : rooms) { // in the order of arrival
      assertThat(room.isGranted()).isTrue();
      room.giveBack();
    }
    assertThat(memory.taken()).isZero();
    assertThat(memory.waiting()).isZero();
  }
}
