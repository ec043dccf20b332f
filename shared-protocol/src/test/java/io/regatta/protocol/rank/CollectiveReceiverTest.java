package io.regatta.protocol.rank;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.schedule.Algorithm;
import io.regatta.core.collective.schedule.Choices.Choice;
import io.regatta.core.collective.schedule.Schedules;
import io.regatta.core.collective.schedule.Step;
import io.regatta.protocol.rank.CollectiveReceiver.Listener;
import io.regatta.protocol.rank.CollectiveReceiver.Target;
import io.regatta.protocol.tensor.CollectiveCall;
import io.regatta.protocol.tensor.CollectiveElements;
import io.regatta.protocol.tensor.CollectiveFailed;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CollectiveReceiverTest {
  private final float[] memory = new float[4];
  private final Tensor tensor = Tensor.of(memory);
  private final CollectiveCall call = CollectiveFrames.call(0, Operation.BROADCAST, ReduceOp.SUM, 0, tensor,
      new Choice(Algorithm.TREE, 1024));
  private final Step step = Schedules.of(Operation.BROADCAST, Algorithm.TREE, 4, 1, 0, 4, new int[2]).steps().get(0);
  private final List<String> heard = new ArrayList<>();
  private final CollectiveReceiver receiver = new CollectiveReceiver(new Listener() {
    @Override
    public void opened(CollectiveOpen by) {
      heard.add("opened");
    }

    @Override
    public void failed(CollectiveFailed why) {
      heard.add("failed");
    }

    @Override
    public Target begin(CollectiveElements elements) {
      heard.add("begin");
      return new Target(tensor, step, ReduceOp.SUM);
    }

    @Override
    public void taken() {
      heard.add("taken");
    }
  }, new Tensor.Workspace());

  private static ByteBuf floats(float... values) {
    ByteBuf bytes = Unpooled.buffer();
    for (float value : values) {
      bytes.writeFloatLE(value);
    }
    return bytes;
  }

  private void begin() {
    receiver.begin(TensorMessage.newBuilder().setCollective(CollectiveElements.newBuilder().setCall(call)).build(), 16);
  }

  @Test
  void elements_go_to_the_tensor_as_they_come() {
    begin();
    receiver.payload(floats(1, 2));
    receiver.payload(floats(3, 4));
    receiver.end();
    assertThat(memory).containsExactly(1, 2, 3, 4);
    assertThat(heard).containsExactly("begin", "taken");
  }

  @Test
  void in_the_middle_of_a_message_that_is_dropped_the_tensor_is_not_written_to_any_more() {
    begin();
    receiver.payload(floats(1, 2));
    receiver.drop();
    receiver.payload(floats(3, 4));
    receiver.end();
    begin();
    receiver.payload(floats(5, 6, 7, 8));
    receiver.end();
    receiver.begin(TensorMessage.newBuilder().setCollectiveFailed(CollectiveFailed.getDefaultInstance()).build(), 0);
    receiver.end();
    assertThat(memory).containsExactly(1, 2, 0, 0);
    assertThat(heard).containsExactly("begin");
  }
}
