package io.regatta.load.dense;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.regatta.protocol.tensor.TensorMessage;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Stock grpc-java with the messages of tensor.proto on a bidi stream: the same chunks and windows, epoll, no executor
 * between the loop and the application. A sender may be a window ahead of the network, not 32 KB as by default.
 */
final class GrpcJavaPeer implements Peer {

  static final MethodDescriptor<TensorMessage, TensorMessage> EXCHANGE = MethodDescriptor
      .<TensorMessage, TensorMessage>newBuilder().setType(MethodDescriptor.MethodType.BIDI_STREAMING)
      .setFullMethodName("regatta.ParameterShard/Exchange")
      .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();

  private static final int MAX_MESSAGE_BYTES = 8 << 20;

  private final List<Server> servers = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();

  @Override
  public int serve(DenseTask task) throws Exception {
    Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0)).directExecutor()
        .flowControlWindow(DenseTask.WINDOW_BYTES).maxInboundMessageSize(MAX_MESSAGE_BYTES)
        .addService(ServerServiceDefinition.builder("regatta.ParameterShard")
            .addMethod(EXCHANGE, ServerCalls.asyncBidiStreamingCall(answers -> new GrpcJavaShard(task,
                (ServerCallStreamObserver<TensorMessage>) answers))).build())
        .build().start();
    servers.add(server);
    return server.getPort();
  }

  @Override
  public Client connect(int port, DenseTask task) {
    ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().directExecutor()
        .flowControlWindow(DenseTask.WINDOW_BYTES).maxInboundMessageSize(MAX_MESSAGE_BYTES).build();
    channels.add(channel);
    return GrpcJavaTrainer.open(task, channel.newCall(EXCHANGE,
        CallOptions.DEFAULT.withOnReadyThreshold(DenseTask.WINDOW_BYTES)));
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    servers.forEach(Server::shutdownNow);
  }
}
