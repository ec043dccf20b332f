package io.regatta.program;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Reads saved models the way any other tool would: by the format's description. */
final class Safetensors {

  private Safetensors() {}

  /** All float32 tensors of a file by name. */
  static Map<String, float[]> floats(Path path) throws IOException {
    Map<String, float[]> tensors = new TreeMap<>();
    ByteBuffer file = file(path);
    JsonObject header = header(file);
    for (String name : header.fieldNames()) {
      if ("F32".equals(header.getJsonObject(name).getString("dtype"))) {
        ByteBuffer bytes = bytes(file, header, name);
        float[] values = new float[bytes.remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(values);
        tensors.put(name, values);
      }
    }
    return tensors;
  }

  /** An int64 tensor. */
  static long[] longs(Path path, String name) throws IOException {
    ByteBuffer file = file(path);
    ByteBuffer bytes = bytes(file, header(file), name);
    long[] values = new long[bytes.remaining() / Long.BYTES];
    bytes.asLongBuffer().get(values);
    return values;
  }

  private static ByteBuffer file(Path path) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static JsonObject header(ByteBuffer file) {
    return new JsonObject(new String(file.array(), Long.BYTES, (int) file.getLong(0), StandardCharsets.UTF_8));
  }

  private static ByteBuffer bytes(ByteBuffer file, JsonObject header, String name) {
    JsonArray place = header.getJsonObject(name).getJsonArray("data_offsets");
    int data = Long.BYTES + (int) file.getLong(0);
    return file.slice(data + place.getInteger(0), place.getInteger(1) - place.getInteger(0))
        .order(ByteOrder.LITTLE_ENDIAN);
  }
}
