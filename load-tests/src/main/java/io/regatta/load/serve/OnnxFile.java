package io.regatta.load.serve;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A writer of fully connected networks in the ONNX format (IR version 8, operators of version 13). Stateless. */
final class OnnxFile {

  private static final int FLOAT = 1;
  private static final int INT_ATTRIBUTE = 2;

  /** A layer: weights {@code [outputs × inputs]}, row-major, and biases. */
  record Layer(int inputs, int outputs, float[] weights, float[] biases) {}

  /** The content of a message. */
  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  private OnnxFile() {}

  /** Writes relu layers, and a last one with softmax: input {@code x [batch, inputs]}, output {@code y}. */
  static void write(Path file, List<Layer> layers) throws IOException {
    Files.write(file, message(model -> {
      model.writeInt64(1, 8);
      model.writeBytes(8, message(opset -> opset.writeInt64(2, 13)));
      model.writeBytes(7, message(graph -> graph(graph, layers)));
    }).toByteArray());
  }

  private static void graph(CodedOutputStream graph, List<Layer> layers) throws IOException {
    String from = "x";
    for (int i = 0; i < layers.size(); i++) {
      boolean last = i == layers.size() - 1;
      String sums = "z" + i;
      node(graph, "Gemm", List.of(from, "w" + i, "b" + i), sums, "transB", 1);
      from = last ? "y" : "h" + i;
      if (last) {
        node(graph, "Softmax", List.of(sums), from, "axis", 1);
      } else {
        node(graph, "Relu", List.of(sums), from, null, 0);
      }
    }
    graph.writeString(2, "layers");
    for (int i = 0; i < layers.size(); i++) {
      Layer layer = layers.get(i);
      tensor(graph, "w" + i, layer.weights(), layer.outputs(), layer.inputs());
      tensor(graph, "b" + i, layer.biases(), layer.outputs());
    }
    graph.writeBytes(11, value("x", layers.get(0).inputs()));
    graph.writeBytes(12, value("y", layers.get(layers.size() - 1).outputs()));
  }

  private static void node(CodedOutputStream graph, String operator, List<String> inputs, String output,
      String attribute,
      long value) throws IOException {
    graph.writeBytes(1, message(node -> {
      for (String input : inputs) {
        node.writeString(1, input);
      }
      node.writeString(2, output);
      node.writeString(4, operator);
      if (attribute != null) {
        node.writeBytes(5, message(of -> {
          of.writeString(1, attribute);
          of.writeInt64(3, value);
          of.writeInt32(20, INT_ATTRIBUTE);
        }));
      }
    }));
  }

  private static void tensor(CodedOutputStream graph, String name, float[] values, long... dims) throws IOException {
    ByteBuffer raw = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    raw.asFloatBuffer().put(values);
    graph.writeBytes(5, message(tensor -> {
      for (long dim : dims) {
        tensor.writeInt64(1, dim);
      }
      tensor.writeInt32(2, FLOAT);
      tensor.writeString(8, name);
      tensor.writeByteArray(9, raw.array());
    }));
  }

  /** Returns a float tensor {@code [batch, width]}. */
  private static ByteString value(String name, int width) {
    return message(info -> {
      info.writeString(1, name);
      info.writeBytes(2, message(type -> type.writeBytes(1, message(tensor -> {
        tensor.writeInt32(1, FLOAT);
        tensor.writeBytes(2, message(shape -> {
          shape.writeBytes(1, message(any -> any.writeString(2, "batch")));
          shape.writeBytes(1, message(dim -> dim.writeInt64(1, width)));
        }));
      }))));
    });
  }

  private static ByteString message(Fields fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      fields.write(out);
      out.flush();
    } catch (IOException e) { // bytes in memory
      throw new UncheckedIOException(e);
    }
    return ByteString.copyFrom(bytes.toByteArray());
  }
}
