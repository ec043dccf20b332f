package io.regatta.load.serve;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.Map;

/**
 * A network in onnxruntime, through its Java library, which is no dependency of the load tests: its jar is named by who
 * runs them. One thread computes an operator, as everywhere here. Any thread.
 */
final class OnnxSession implements AutoCloseable {

  private final Object environment;
  private final Object session;
  private final Method create;
  private final Method run;
  private final Method get;
  private final Method value;

  /** @param jar onnxruntime's */
  OnnxSession(Path jar, Path model) throws Exception {
    URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, OnnxSession.class.getClassLoader());
    Class<?> environments = loader.loadClass("ai.onnxruntime.OrtEnvironment");
    Class<?> options = loader.loadClass("ai.onnxruntime.OrtSession$SessionOptions");
    environment = environments.getMethod("getEnvironment").invoke(null);
    Object option = options.getConstructor().newInstance();
    options.getMethod("setIntraOpNumThreads", int.class).invoke(option, 1);
    options.getMethod("setInterOpNumThreads", int.class).invoke(option, 1);
    session = environments.getMethod("createSession", String.class, options).invoke(environment, model.toString(),
        option);
    create = loader.loadClass("ai.onnxruntime.OnnxTensor").getMethod("createTensor", environments, FloatBuffer.class,
        long[].class);
    run = session.getClass().getMethod("run", Map.class);
    Class<?> result = loader.loadClass("ai.onnxruntime.OrtSession$Result");
    get = result.getMethod("get", int.class);
    value = loader.loadClass("ai.onnxruntime.OnnxTensor").getMethod("getFloatBuffer");
  }

  /** Returns the outputs of {@code [rows × width]} inputs in direct memory. */
  float[] run(FloatBuffer inputs, int rows, int width) throws Exception {
    try (AutoCloseable tensor = (AutoCloseable) create.invoke(null, environment, inputs, new long[] {rows, width});
        AutoCloseable outputs = (AutoCloseable) run.invoke(session, Map.of("x", tensor))) {
      FloatBuffer values = (FloatBuffer) value.invoke(get.invoke(outputs, 0));
      float[] copy = new float[values.remaining()];
      values.get(copy);
      return copy;
    }
  }

  @Override
  public void close() throws Exception {
    ((AutoCloseable) session).close();
  }
}
