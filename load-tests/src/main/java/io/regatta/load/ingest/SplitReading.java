package io.regatta.load.ingest;

import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import net.jpountz.xxhash.XXHash32;
import net.jpountz.xxhash.XXHashFactory;

/** Reading in the obvious way: {@code BufferedReader}, {@code String.split}, {@code Float.parseFloat}, xxHash. */
final class SplitReading extends Reading {

  private static final float[] DENSE_MIN = {0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  private static final float[] DENSE_DIFFERENCE = {20, 603, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50};
  private static final int FIRST_SPARSE = 14;
  private static final int COLUMNS = 40;

  private final XXHash32 hash = XXHashFactory.fastestInstance().hash32();
  private final float[] labels = new float[BATCH];
  private final float[] dense = new float[BATCH * DENSE_MIN.length];
  private final long[] ids = new long[BATCH * (COLUMNS - FIRST_SPARSE)];

  SplitReading(JsonObject setup) {
    super(setup);
  }

  @Override
  void read() throws IOException {
    for (Path file : files) {
      try (BufferedReader in = Files.newBufferedReader(file)) {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          add(line.split("\t", -1), (int) (examples++ % BATCH));
        }
      }
    }
  }

  private void add(String[] columns, int row) {
    labels[row] = Float.parseFloat(columns[0]);
    for (int i = 0; i < DENSE_MIN.length; i++) {
      String value = columns[i + 1];
      dense[row * DENSE_MIN.length + i] =
          value.isEmpty() ? 0f : (Float.parseFloat(value) - DENSE_MIN[i]) / DENSE_DIFFERENCE[i];
    }
    for (int column = FIRST_SPARSE; column < COLUMNS; column++) {
      byte[] key = (column + columns[column]).getBytes(StandardCharsets.UTF_8);
      long id = Integer.toUnsignedLong(hash.hash(key, 0, key.length, 0)) % DIMENSION;
      ids[row * (COLUMNS - FIRST_SPARSE) + column - FIRST_SPARSE] = id;
      sum += id;
    }
  }
}
