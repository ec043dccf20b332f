package io.regatta.core.model;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * The fingerprint of a {@link ModelSpec}: the first 16 hex digits of the SHA-256 of its canonical bytes. Canonical
 * means every field in the order of declaration, big-endian; texts are UTF-8 after their length, lists follow their
 * size. Enumerations are written by name. Used for one comparison, by its maker; no state survives {@link #of}.
 */
final class ModelDigest {

  private static final int DIGEST_BYTES = 8;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  private ModelDigest() {}

  static String of(ModelSpec model) {
    ModelDigest d = new ModelDigest();
    try {
      d.model(model);
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(d.bytes.toByteArray());
      return HexFormat.of().formatHex(hash, 0, DIGEST_BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory cannot fail", e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private void model(ModelSpec m) throws IOException {
    text("regatta-model-2");
    out.writeLong(m.seed());
    out.writeInt(m.dense().size());
    for (DenseVariable v : m.dense()) {
      text(v.name());
      out.writeInt(v.shape().size());
      for (int d : v.shape()) {
        out.writeInt(d);
      }
    }
    optimizer(m.denseOptimizer());
    out.writeInt(m.sparse().size());
    for (SparseTableSpec t : m.sparse()) {
      text(t.name());
      out.writeInt(t.dim());
      initializer(t.initializer());
      optimizer(t.optimizer());
      if (!t.life().equals(TableLife.NONE)) { // younger than the other fields: digests without it stay
        life(t.life());
      }
    }
  }

  private void life(TableLife l) throws IOException {
    text("life");
    out.writeBoolean(l.statistics());
    out.writeFloat(l.decay());
    out.writeFloat(l.nonclickCoefficient());
    out.writeFloat(l.clickCoefficient());
    out.writeInt(l.admitCount());
    out.writeFloat(l.admitProbability());
    out.writeFloat(l.shrinkScore());
    out.writeInt(l.shrinkUnseenDays());
    out.writeLong(l.ttlSeconds());
  }

  private void initializer(InitializerSpec i) throws IOException {
    text(i.kind().name());
    out.writeFloat(i.a());
    out.writeFloat(i.b());
  }

  private void optimizer(OptimizerSpec o) throws IOException {
    text(o.name());
    learningRate(o.learningRate());
    out.writeFloat(o.weightDecay());
    out.writeFloat(o.clipValue());
    out.writeFloat(o.clipNorm());
    Map<String, Object> hyperparameters = o.hyperparameters();
    out.writeInt(hyperparameters.size());
    for (Map.Entry<String, Object> h : hyperparameters.entrySet()) {
      text(h.getKey());
      if (h.getValue() instanceof Boolean flag) {
        out.writeBoolean(flag);
      } else {
        out.writeFloat((Float) h.getValue());
      }
    }
  }

  private void learningRate(LearningRate r) throws IOException {
    text(r.kind().name());
    out.writeDouble(r.base());
    out.writeLong(r.decaySteps());
    out.writeDouble(r.decayRate());
    out.writeBoolean(r.staircase());
    out.writeInt(r.boundaries().size());
    for (long b : r.boundaries()) {
      out.writeLong(b);
    }
    out.writeInt(r.values().size());
    for (double v : r.values()) {
      out.writeDouble(v);
    }
    out.writeInt(r.modelDim());
    out.writeDouble(r.minimum());
    out.writeLong(r.warmupSteps());
    out.writeDouble(r.warmupStart());
  }

  private void text(String s) throws IOException {
    byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
    out.writeInt(utf8.length);
    out.write(utf8);
  }
}
