package io.regatta.load.dense;

import io.regatta.load.run.GrpcJavaStream;

/** Stock grpc-java, with the same chunks and windows. */
final class GrpcJavaPeer implements Peer {
  private final GrpcJavaStream streams = new GrpcJavaStream();

  @Override
  public int serve(DenseTask task) throws Exception {
    return streams.serve(answers -> new GrpcJavaShard(task, answers));
  }

  @Override
  public Client connect(int port, DenseTask task) {
    return GrpcJavaTrainer.open(task, streams.call(port));
  }

  @Override
  public void close() {
    streams.close();
  }
}
