package io.regatta.fleet;

import static io.regatta.protocol.testing.HostileClient.call;
import static io.regatta.protocol.testing.HostileClient.frame;
import static io.regatta.protocol.testing.HostileClient.hello;
import static io.regatta.protocol.testing.HostileClient.join;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.node.process.Blocking;
import io.regatta.node.testing.LogLines;
import io.regatta.protocol.aggregation.Aggregation;
import io.regatta.protocol.collective.CollectiveOuterClass;
import io.regatta.protocol.parameterserver.ParameterServerOuterClass;
import io.regatta.protocol.prediction.PredictionOuterClass;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.RendezvousOuterClass;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.tensor.LearningRate;
import io.regatta.protocol.tensor.Optimizer;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.RegisterTrainer.Mode;
import io.regatta.protocol.tensor.RegisterTrainer.NanPolicy;
import io.regatta.protocol.tensor.RegisterTrainer;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.HostileClient;
import io.regatta.protocol.trainer.TrainerOuterClass;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Calls with the job's token, at each port of a running job. Every text in them has line ends and terminal sequences,
 * or 8 kB. No line of the log is forged or long.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class StrangeNamesTest {
  private static final String FORGED = "a\r\n11:22:33.444 ERROR Forged \u001b[2J\u009b\u2028\u202eb";
  private static final String LONG = "\u001b]0;" + "x".repeat(8000);
  private static final int LINE_CHARS = 4000;
  private static final int LOG_BYTES = 1 << 20;
  /** Most bytes of an HTTP/2 frame. */
  private static final int FRAME_BYTES = 16 << 10;
  private static final List<ServiceDescriptor> SERVICES = Stream.of(RendezvousOuterClass.getDescriptor(),
      ParameterServerOuterClass.getDescriptor(), PredictionOuterClass.getDescriptor(), Aggregation.getDescriptor(),
      CollectiveOuterClass.getDescriptor(), TrainerOuterClass.getDescriptor())
      .flatMap(file -> file.getServices().stream()).toList();

  @Test
  void when_every_text_of_every_call_is_strange_then_each_line_of_the_log_is_one_and_short(@TempDir Path dir)
      throws Exception {
    List<HostileClient> open = new ArrayList<>();
    try (AttackedJob job = AttackedJob.start(dir, AttackedJob.model(dir), null); LogLines log = LogLines.ofProcess()) {
      for (int port : job.ports()) {
        for (String name : List.of(FORGED, LONG)) {
          calls(port, name, open);
          http(port, name);
        }
      }
      Blocking.get(job.node().waits().logLong(Long.MAX_VALUE / 2)); // of those who wait at connections that are open
      assertThat(job.finish()).hasSize(2);
      List<String> texts = Stream.concat(log.lines().stream(), log.causes().stream()).toList();
      assertThat(texts).isNotEmpty().allSatisfy(text -> assertThat(text).matches("\\P{Cntrl}*")
          .doesNotContain("\u2028", "\u202e", "\u009b").hasSizeLessThan(LINE_CHARS));
      assertThat(log.bytes()).isLessThan(LOG_BYTES);
    } finally {
      for (HostileClient client : open) {
        client.close();
      }
    }
  }

  /** Each method on a connection of its own, so that one that ends it does not save the others. */
  private static void calls(int port, String name, List<HostileClient> open) throws IOException {
    for (ServiceDescriptor service : SERVICES) {
      for (MethodDescriptor method : service.getMethods()) {
        HostileClient client = HostileClient.connect(port);
        open.add(client);
        client.send(hello());
        int stream = 1;
        for (Message message : messages(method, name)) {
          client.send(call(stream, "/" + service.getFullName() + "/" + method.getName(), Token.HEADER,
              "Bearer " + AttackedJob.TOKEN), data(stream, message.toByteArray()));
          stream += 2;
        }
        answered(client);
      }
    }
  }

  /** Some with names alone that are strange, so that they are taken if these are. */
  private static List<Message> messages(MethodDescriptor method, String name) {
    DynamicMessage.Builder strange = strange(method.getInputType(), name, 2);
    if (method.getName().equals("Join")) {
      return List.of(JoinRequest.newBuilder().setGroup(name).setMember(name).setWorldSize(2).setEndpoint(name)
          .setHost(name).setRunId(name).build(), strange.build());
    }
    if (!method.getName().equals("Exchange")) {
      return List.of(strange.build());
    }
    List<Message> messages = new ArrayList<>();
    Optimizer sgd = Optimizer.newBuilder().setKind("sgd").setLearningRate(LearningRate.newBuilder().setKind(LearningRate.Kind.CONSTANT))
        .build();
    messages.add(TensorMessage.newBuilder().setJob(name).setRequest(1).setIncarnation(1).setRegister(Register.newBuilder()
        .setTrainer(RegisterTrainer.newBuilder().setMode(Mode.ASYNC).setTrainers(1).setNanPolicy(NanPolicy.FAIL).setShards(1)
            .setMinBlock(8).setDenseOptimizer(sgd))).build());
    for (FieldDescriptor body : method.getInputType().findFieldByName("push").getContainingOneof().getFields()) {
      messages.add(strange.clone().setField(body, strange(body.getMessageType(), name, 2).build()).build());
    }
    return messages;
  }

  /** A PING is answered after what was sent before it; a server may end the connection instead. */
  private static void answered(HostileClient client) throws IOException {
    client.send(frame(Http2FrameTypes.PING, 0, 0, "answered".getBytes(US_ASCII)));
    client.awaitTextOrEnd("answered");
  }

  private static byte[] data(int stream, byte[] message) {
    byte[] body = ByteBuffer.allocate(5 + message.length).put((byte) 0).putInt(message.length).put(message).array();
    List<byte[]> frames = new ArrayList<>();
    for (int from = 0; from < body.length; from += FRAME_BYTES) {
      int to = Math.min(body.length, from + FRAME_BYTES);
      frames.add(frame(Http2FrameTypes.DATA, to == body.length ? 1 : 0, stream,
          Arrays.copyOfRange(body, from, to)));
    }
    return join(frames.toArray(byte[][]::new));
  }

  /** A message of this name wherever there is a text, and 1 wherever there is a number. */
  private static DynamicMessage.Builder strange(Descriptor type, String name, int depth) {
    DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
    for (FieldDescriptor field : type.getFields()) {
      Object value = switch (field.getJavaType()) {
        case STRING -> name;
        case INT -> 1;
        case LONG -> 1L;
        case MESSAGE -> depth == 0 || field.isMapField() ? null
            : strange(field.getMessageType(), name, depth - 1).build();
        default -> null;
      };
      if (value != null && field.isRepeated()) {
        message.addRepeatedField(field, value);
      } else if (value != null) {
        message.setField(field, value);
      }
    }
    return message;
  }

  private static void http(int port, String name) throws IOException {
    byte[] body = name.getBytes(UTF_8);
    String raw = new String(body, ISO_8859_1);
    String header = raw.replaceAll("[\r\n]", "");
    List<String> requests = List.of("GET /" + header.replace(' ', '_'), "PUT /" + header.replace(' ', '_') + "/key",
        "POST /predict", header.replace(' ', '_') + " /");
    for (String request : requests) {
      try (HostileClient client = HostileClient.connect(port)) {
        client.send((request + " HTTP/1.1\r\nHost: " + header.substring(0, Math.min(1000, header.length())) + "\r\n"
            + Token.HEADER + ": Bearer " + AttackedJob.TOKEN + "\r\nIf-Match: x\r\nConnection: close\r\n"
            + "Content-Length: " + body.length + "\r\n\r\n").getBytes(ISO_8859_1), body);
        client.awaitEnd();
      }
    }
  }
}
