package io.regatta.load.run;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.regatta.protocol.tensor.TensorMessage;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Stock grpc-java with the messages of tensor.proto on a bidi stream: epoll, windows of 16 MB in both senses, no executor
 * between the loop and the application. Used by the worker's main thread.
 */
public final class GrpcJavaStream implements AutoCloseable {
  /** Window of a stream, and the distance by which a sender may be ahead of the network, not 32 KB as by default. */
  public static final int WINDOW_BYTES = 16 << 20;
  private static final int MAX_MESSAGE_BYTES = 8 << 20;
  private static final String SERVICE = "regatta.ParameterShard";
  private static final MethodDescriptor<TensorMessage, TensorMessage> EXCHANGE = MethodDescriptor
      .<TensorMessage, TensorMessage>newBuilder().setType(MethodDescriptor.MethodType.BIDI_STREAMING)
      .setFullMethodName(SERVICE + "/Exchange")
      .setRequestMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance()))
      .setResponseMarshaller(ProtoUtils.marshaller(TensorMessage.getDefaultInstance())).build();

  private final List<Server> servers = new ArrayList<>();
  private final List<ManagedChannel> channels = new ArrayList<>();

  /** Serves on a free port; returns it. */
  public int serve(Function<ServerCallStreamObserver<TensorMessage>, StreamObserver<TensorMessage>> shard)
      throws IOException {
    Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0)).directExecutor()
        .flowControlWindow(WINDOW_BYTES).maxInboundMessageSize(MAX_MESSAGE_BYTES)
        .addService(ServerServiceDefinition.builder(SERVICE)
            .addMethod(EXCHANGE, ServerCalls.asyncBidiStreamingCall(answers -> {
              ServerCallStreamObserver<TensorMessage> call = (ServerCallStreamObserver<TensorMessage>) answers;
              call.setOnReadyThreshold(WINDOW_BYTES);
              return shard.apply(call);
            })).build())
        .build().start();
    servers.add(server);
    return server.getPort();
  }

  /** Returns a call on a connection of its own, not started yet. */
  public ClientCall<TensorMessage, TensorMessage> call(int port) {
    ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().directExecutor()
        .flowControlWindow(WINDOW_BYTES).maxInboundMessageSize(MAX_MESSAGE_BYTES).build();
    channels.add(channel);
    return channel.newCall(EXCHANGE, CallOptions.DEFAULT.withOnReadyThreshold(WINDOW_BYTES));
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    servers.forEach(Server::shutdownNow);
  }
}
