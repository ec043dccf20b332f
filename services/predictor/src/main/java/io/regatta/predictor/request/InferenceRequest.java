package io.regatta.predictor.request;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.predictor.request.InferenceTensor.Type;
import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A request of the Open Inference Protocol.
 *
 * @param id chosen by the client; empty: none
 * @param inputs tensors
 * @param outputs names of the tensors that are asked for; empty: all
 * @param binary true if the answer is to hold the elements in binary form
 */
public record InferenceRequest(String id, List<InferenceTensor> inputs, List<String> outputs, boolean binary) {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String BINARY_SIZE = "binary_data_size";

  /**
   * Reads a body: a JSON object and, after it, the elements of inputs in binary form.
   *
   * @param jsonBytes length of the JSON object; -1: it is the whole body
   * @throws InvalidInput if it is malformed
   */
  public static InferenceRequest parse(byte[] body, int jsonBytes) {
    if (jsonBytes > body.length) {
      throw new InvalidInput("inference-header-content-length is " + jsonBytes + ", but the body has " + body.length
          + " bytes");
    }
    int json = jsonBytes < 0 ? body.length : jsonBytes;
    Reading reading = new Reading(ByteBuffer.wrap(body, json, body.length - json));
    try (JsonParser parser = JSON.createParser(body, 0, json)) {
      expect(parser.nextToken() == JsonToken.START_OBJECT, "the body is no JSON object");
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        reading.member(parser, parser.currentName());
      }
      expect(parser.nextToken() == null, "something follows the JSON object");
    } catch (JsonProcessingException e) {
      throw new InvalidInput("the body is no JSON object of an inference request: " + e.getOriginalMessage(), e);
    } catch (IOException e) { // of the encoding: the bytes are in memory
      throw new InvalidInput("the body is no text in UTF-8: " + e.getMessage(), e);
    }
    return reading.request();
  }

  private static void expect(boolean holds, String otherwise) {
    if (!holds) {
      throw new InvalidInput(otherwise);
    }
  }

  /** The state of reading one body. */
  private static final class Reading {

    private final ByteBuffer raw;
    private final List<InferenceTensor> inputs = new ArrayList<>();
    private final List<String> outputs = new ArrayList<>();
    private String id = "";
    private boolean binary;

    Reading(ByteBuffer raw) {
      this.raw = raw;
    }

    InferenceRequest request() {
      expect(!raw.hasRemaining(), raw.remaining()
          + " bytes follow the JSON object that no input claims with binary_data_size");
      return new InferenceRequest(id, inputs, outputs, binary);
    }

    void member(JsonParser parser, String name) throws IOException {
      JsonToken value = parser.nextToken();
      switch (name) {
        case "id" -> id = parser.getText();
        case "parameters" -> parameters(parser, value, "binary_data_output");
        case "inputs" -> {
          expect(value == JsonToken.START_ARRAY, "inputs is no array");
          while (parser.nextToken() != JsonToken.END_ARRAY) {
            inputs.add(input(parser));
          }
        }
        case "outputs" -> {
          expect(value == JsonToken.START_ARRAY, "outputs is no array");
          while (parser.nextToken() != JsonToken.END_ARRAY) {
            output(parser);
          }
        }
        default -> parser.skipChildren();
      }
    }

    /** Reads parameters, of which one says whether the answer is to be binary. */
    private void parameters(JsonParser parser, JsonToken value, String ofBinary) throws IOException {
      expect(value == JsonToken.START_OBJECT, "parameters is no object");
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken given = parser.nextToken();
        if (name.equals(ofBinary)) {
          binary |= given == JsonToken.VALUE_TRUE;
        }
        parser.skipChildren();
      }
    }

    private void output(JsonParser parser) throws IOException {
      expect(parser.currentToken() == JsonToken.START_OBJECT, "an output is no object");
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals("name")) {
          outputs.add(parser.getText());
        } else if (name.equals("parameters")) {
          parameters(parser, value, "binary_data");
        } else {
          parser.skipChildren();
        }
      }
    }

    private InferenceTensor input(JsonParser parser) throws IOException {
      expect(parser.currentToken() == JsonToken.START_OBJECT, "an input is no object");
      String name = null;
      String datatype = null;
      LongArrayList shape = null;
      Elements elements = null;
      long bytes = -1;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String member = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (member) {
          case "name" -> name = parser.getText();
          case "datatype" -> datatype = parser.getText();
          case "shape" -> shape = shape(parser, value);
          case "data" -> elements = new Elements().read(parser, value);
          case "parameters" -> bytes = binarySize(parser, value);
          default -> parser.skipChildren();
        }
      }
      expect(name != null && datatype != null && shape != null, "an input needs name, datatype and shape"
          + (name == null ? "" : ", which " + name + " lacks"));
      Type type = Type.of(name, datatype);
      if (bytes < 0) {
        expect(elements != null, "input " + name + " has no data");
        return elements.tensor(name, type, shape.toLongArray());
      }
      expect(elements == null, "input " + name + " has data and binary_data_size; give one of them");
      expect(bytes <= raw.remaining(), "input " + name + " claims " + bytes + " bytes after the JSON object, where "
          + raw.remaining() + " are left");
      ByteBuffer own = raw.slice(raw.position(), (int) bytes);
      raw.position(raw.position() + (int) bytes);
      return InferenceTensor.ofRaw(name, type, shape.toLongArray(), own);
    }

    private static LongArrayList shape(JsonParser parser, JsonToken value) throws IOException {
      expect(value == JsonToken.START_ARRAY, "a shape is no array");
      LongArrayList shape = new LongArrayList();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        expect(parser.currentToken() == JsonToken.VALUE_NUMBER_INT, "a shape holds something else than whole numbers");
        shape.add(parser.getLongValue());
      }
      return shape;
    }

    private static long binarySize(JsonParser parser, JsonToken value) throws IOException {
      expect(value == JsonToken.START_OBJECT, "parameters is no object");
      long bytes = -1;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken given = parser.nextToken();
        if (name.equals(BINARY_SIZE)) {
          expect(given == JsonToken.VALUE_NUMBER_INT && parser.getLongValue() >= 0,
              "binary_data_size is no number of bytes");
          bytes = parser.getLongValue();
        }
        parser.skipChildren();
      }
      return bytes;
    }
  }

  /** The elements of a tensor in JSON: a flat array, or nested ones. Null is a missing value. */
  private static final class Elements {

    private final LongArrayList wholes = new LongArrayList();
    private final DoubleArrayList numbers = new DoubleArrayList();
    /** Null until the first text; then one for each element. */
    private List<byte[]> texts;
    private boolean onlyWholes = true;
    private boolean onlyNumbers = true;

    Elements read(JsonParser parser, JsonToken first) throws IOException {
      expect(first == JsonToken.START_ARRAY, "data is no array");
      int depth = 1;
      while (depth > 0) {
        JsonToken token = parser.nextToken();
        expect(token != null, "data has no end");
        switch (token) {
          case START_ARRAY -> depth++;
          case END_ARRAY -> depth--;
          case VALUE_STRING -> add(false, false, 0, Double.NaN, parser.getText());
          case VALUE_TRUE, VALUE_FALSE -> add(true, true, token == JsonToken.VALUE_TRUE ? 1 : 0,
              token == JsonToken.VALUE_TRUE ? 1 : 0, null);
          case VALUE_NULL -> add(false, true, 0, Double.NaN, null);
          case VALUE_NUMBER_FLOAT -> add(false, true, 0, parser.getDoubleValue(), null);
          case VALUE_NUMBER_INT -> {
            boolean fits = parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
            add(true, true, fits ? parser.getLongValue() : parser.getBigIntegerValue().longValue(),
                parser.getDoubleValue(), null);
          }
          default -> throw new InvalidInput("data holds an object");
        }
      }
      return this;
    }

    private void add(boolean isWhole, boolean isNumber, long whole, double number, String text) {
      onlyWholes &= isWhole;
      onlyNumbers &= isNumber;
      wholes.add(whole);
      numbers.add(number);
      if (text != null && texts == null) {
        texts = new ArrayList<>(Collections.nCopies(numbers.size() - 1, null));
      }
      if (texts != null) {
        texts.add(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
      }
    }

    InferenceTensor tensor(String name, Type type, long[] shape) {
      if (type == Type.BYTES) {
        expect(numbers.doubleStream().allMatch(Double::isNaN), "input " + name
            + " is of BYTES, but its data holds numbers");
        return InferenceTensor.ofTexts(name, shape, texts == null ? new byte[numbers.size()][]
            : texts.toArray(byte[][]::new));
      }
      expect(onlyNumbers && (onlyWholes || type.isFloating()), "input " + name + " is of " + type
          + ", but its data holds "
          + (onlyNumbers ? "other numbers" : "text"));
      if (!type.isFloating()) {
        return InferenceTensor.ofWholes(name, type, shape, wholes.toLongArray());
      }
      double[] values = numbers.toDoubleArray();
      for (int i = 0; i < values.length && type == Type.FP32; i++) {
        values[i] = (float) values[i];
      }
      return InferenceTensor.ofNumbers(name, type, shape, values);
    }
  }
}
