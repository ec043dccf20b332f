package io.regatta.load.serve;

import io.regatta.core.init.InitializerSpec;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.SlotBatch;
import io.regatta.data.format.CriteoFormat;
import io.regatta.load.process.Task;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.ModelFiles;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The peer: a server that computes the same network on onnxruntime. It has an event loop for each core, and each
 * request is parsed, computed and answered on the loop of its connection, so there is neither a queue nor a hop. Rows
 * of the table are in a map of this process, and lines are parsed by the same code as the predictor's.
 */
final class OnnxServer implements Task {

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
  private final OnnxSession session;
  private final CriteoFormat format;
  private final int dim;
  private final Long2IntOpenHashMap rowOf = new Long2IntOpenHashMap();
  private final float[] rows;
  private final InitializerSpec initializer;
  private final long initializerKey;
  private final int port;

  OnnxServer(JsonObject setup) throws Exception {
    Path model = Path.of(setup.getString("model"));
    JsonObject manifest = ManifestFile.read(model);
    JsonObject table = manifest.getJsonArray("tables").getJsonObject(0);
    dim = table.getInteger("dim");
    JsonObject initial = table.getJsonObject("initializer");
    initializer = InitializerSpec.uniform(initial.getFloat("a"), initial.getFloat("b"));
    initializerKey = InitializerSpec.tableKey(manifest.getLong("seed"), table.getString("table"));
    format = new CriteoFormat(setup.getLong("id_space"));
    rowOf.defaultReturnValue(-1);
    try (SafetensorsFile file = SafetensorsFile.open(model.resolve(ModelFiles.table(table.getString("table"))))) {
      int count = Math.toIntExact(file.tensor("ids", TensorInfo.I64).elements());
      long[] ids = new long[count];
      file.read("ids", TensorInfo.I64).longs(ids, 0, count);
      rows = file.floats("values");
      for (int i = 0; i < count; i++) {
        rowOf.put(ids[i], i);
      }
    }
    Path onnx = model.resolve("layers.onnx");
    OnnxFile.write(onnx, layers(model));
    session = new OnnxSession(Path.of(setup.getString("jar")), onnx);
    AtomicInteger listening = new AtomicInteger();
    vertx.deployVerticle(() -> new AbstractVerticle() {
      private ByteBuffer inputs = ByteBuffer.allocateDirect(0);

      @Override
      public void start(Promise<Void> started) {
        vertx.createHttpServer().requestHandler(request -> request.body().onSuccess(body -> {
          try {
            request.response().putHeader("content-type", "application/json").end(answer(body.getBytes()));
          } catch (Exception e) {
            request.response().setStatusCode(500).end(e.toString());
          }
        })).listen(setup.getInteger("listen", 0), "127.0.0.1").onSuccess(server -> listening.set(server.actualPort()))
            .<Void>mapEmpty().onComplete(started);
      }

      private Buffer answer(byte[] text) throws Exception {
        SlotBatch batch = batch(text);
        int width = dim * format.layout().slots() + format.layout().dense();
        int bytes = batch.rows() * width * Float.BYTES;
        if (inputs.capacity() < bytes) {
          inputs = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        }
        FloatBuffer floats = inputs.clear().limit(bytes).asFloatBuffer();
        fill(batch, floats);
        float[] outputs = session.run(floats.flip(), batch.rows(), width);
        StringBuilder json = new StringBuilder(16 * batch.rows() + 32).append("{\"scores\":[");
        for (int i = 0; i < batch.rows(); i++) {
          json.append(i == 0 ? "" : ",").append(outputs[2 * i + 1]);
        }
        return Buffer.buffer(json.append("]}\n").toString().getBytes(StandardCharsets.US_ASCII));
      }
    }, new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors())).await(1, TimeUnit.MINUTES);
    port = listening.get();
  }

  private static List<OnnxFile.Layer> layers(Path model) throws Exception {
    List<OnnxFile.Layer> layers = new ArrayList<>();
    try (SafetensorsFile file = SafetensorsFile.open(model.resolve(ModelFiles.DENSE))) {
      float[] weights = null;
      TensorInfo shape = null;
      for (TensorInfo tensor : file.tensors()) {
        if (tensor.shape().size() == 2) {
          weights = file.floats(tensor.name());
          shape = tensor;
        } else {
          layers.add(new OnnxFile.Layer(shape.shape().get(1).intValue(), shape.shape().get(0).intValue(), weights,
              file.floats(tensor.name())));
        }
      }
    }
    return layers;
  }

  private SlotBatch batch(byte[] text) {
    int lines = 1;
    for (byte b : text) {
      lines += b == '\n' ? 1 : 0;
    }
    SlotBatch batch = SlotBatch.allocate(format.layout(), lines);
    int row = 0;
    for (int from = 0; from < text.length; ) {
      int to = from;
      while (to < text.length && text[to] != '\n') {
        to++;
      }
      if (to > from) {
        format.parse(new Line("request", row + 1, text, from, to), batch, row++, BadLines.refused());
      }
      from = to + 1;
    }
    return batch.first(row);
  }

  private void fill(SlotBatch batch, FloatBuffer out) {
    int slots = format.layout().slots();
    int dense = format.layout().dense();
    float[] fresh = new float[dim];
    for (int row = 0; row < batch.rows(); row++) {
      for (int slot = 0; slot < slots; slot++) {
        long id = batch.ids()[row * slots + slot];
        int at = rowOf.get(id);
        if (at >= 0) {
          out.put(rows, at * dim, dim);
        } else {
          initializer.fill(initializerKey, id, fresh, 0, dim);
          out.put(fresh);
        }
      }
      out.put(batch.dense(), row * dense, dense);
    }
  }

  @Override
  public JsonObject ready() {
    return new JsonObject().put("port", port);
  }

  @Override
  public void close() throws Exception {
    vertx.close().await(1, TimeUnit.MINUTES);
    session.close();
  }
}
