package io.regatta.predictor.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.predictor.request.InferenceTensor.Type;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests in the forms of the protocol's own examples. */
class InferenceRequestTest {

  private static InferenceRequest parse(String json) {
    return InferenceRequest.parse(json.getBytes(StandardCharsets.UTF_8), -1);
  }

  private static double[] numbers(InferenceTensor tensor) {
    double[] numbers = new double[tensor.rows() * tensor.width()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = tensor.number(i);
    }
    return numbers;
  }

  @Test
  void readsFlatAndNestedData() {
    InferenceRequest request = parse("""
        {"id": "42",
         "inputs": [
           {"name": "input0", "shape": [2, 2], "datatype": "UINT32", "data": [1, 2, 3, 4]},
           {"name": "input1", "shape": [3], "datatype": "BOOL", "data": [true, false, true]},
           {"name": "input2", "data": [[1.5, 2], [0.1, -4e3]], "parameters": {"of": {"no": "meaning"}},
            "datatype": "FP32", "shape": [2, 2]}],
         "outputs": [{"name": "output0"}], "parameters": {"other": 1}}""");
    assertThat(request.id()).isEqualTo("42");
    assertThat(request.outputs()).containsExactly("output0");
    assertThat(request.binary()).isFalse();
    assertThat(request.inputs()).extracting(InferenceTensor::name, InferenceTensor::rows, InferenceTensor::width)
        .containsExactly(tuple("input0", 2, 2), tuple("input1", 3, 1),
            tuple("input2", 2, 2));
    assertThat(numbers(request.inputs().get(0))).containsExactly(1, 2, 3, 4);
    assertThat(numbers(request.inputs().get(1))).containsExactly(1, 0, 1);
    assertThat(numbers(request.inputs().get(2))).as("floats of 32 bits").containsExactly(1.5, 2, 0.1f, -4000);
  }

  @Test
  void readsTextsAndMissingValues() {
    InferenceTensor texts =
        parse("{\"inputs\": [{\"name\": \"t\", \"shape\": [3], \"datatype\": \"BYTES\", \"data\": "
        + "[null, \"ü\", \"\"]}]}")
        .inputs().get(0);
    assertThat(texts.text(0)).isNull();
    assertThat(new String(texts.text(1), StandardCharsets.UTF_8)).isEqualTo("ü");
    InferenceTensor missing =
        parse("{\"inputs\": [{\"name\": \"t\", \"shape\": [1], \"datatype\": \"FP64\", \"data\": [null]}]}")
        .inputs() .get(0);
    assertThat(missing.number(0)).isNaN();
  }

  @Test
  void readsElementsAfterTheObject() throws Exception {
    String json = """
        {"inputs": [
           {"name": "input0", "shape": [2, 2], "datatype": "UINT32", "parameters": {"binary_data_size": 16}},
           {"name": "input1", "shape": [3], "datatype": "BOOL", "parameters": {"binary_data_size": 3}},
           {"name": "text", "shape": [2], "datatype": "BYTES", "parameters": {"binary_data_size": 11}}],
         "outputs": [{"name": "output0", "parameters": {"binary_data": true}}]}""";
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write(json.getBytes(StandardCharsets.US_ASCII));
    ByteBuffer raw = ByteBuffer.allocate(30).order(ByteOrder.LITTLE_ENDIAN);
    raw.putInt(1).putInt(-1).putInt(3).putInt(4).put((byte) 1).put((byte) 0).put((byte) 1).putInt(3)
        .put("abc".getBytes()).putInt(0);
    body.write(raw.array());
    InferenceRequest request = InferenceRequest.parse(body.toByteArray(), json.length());
    assertThat(numbers(request.inputs().get(0))).containsExactly(1, 4294967295.0, 3, 4);
    assertThat(numbers(request.inputs().get(1))).containsExactly(1, 0, 1);
    assertThat(new String(request.inputs().get(2).text(0))).isEqualTo("abc");
    assertThat(request.inputs().get(2).text(1)).isEmpty();
    assertThat(request.binary()).isTrue();
    assertThatThrownBy(() -> InferenceRequest.parse(body.toByteArray(), json.length() - 1))
        .isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> InferenceRequest.parse(body.toByteArray(), 1 << 20)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the body has");
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', quoteCharacter = '`', value = {
      "[];the body is no JSON object",
      "{}x;no JSON object of an inference request",
      "{} {};something follows the JSON object",
      "{\"inputs\": 1};inputs is no array",
      "{\"inputs\": [1]};an input is no object",
      "{\"inputs\": [{\"name\": \"a\"}]};which a lacks",
      "IN [1], DT \"FP16\", \"data\": [1]}]};input a has the datatype 'FP16'; there are",
      "IN [1], DT \"FP32\"}]};input a has no data",
      "IN [2], DT \"FP32\", \"data\": [1]}]};1 element, but the shape [2]",
      "IN [-1], DT \"FP32\", \"data\": [1]}]};shape [-1]",
      "IN [4294967296, 4294967296, 0], DT \"FP32\", \"data\": []}]};which no data can have",
      "IN [1], DT \"FP32\", \"data\": [\"1\"]}]};its data holds text",
      "IN [1], DT \"INT64\", \"data\": [1.5]}]};its data holds other numbers",
      "IN [1], DT \"BYTES\", \"data\": [1]}]};its data holds numbers",
      "IN [1], DT \"FP32\", \"data\": [{}]}]};data holds an object",
      "IN [1], DT \"FP32\", \"parameters\": {\"binary_data_size\": 4}}]};claims 4 bytes",
      "IN [1], DT \"FP32\", \"data\": [[[[;no JSON object of an inference request"})
  void refusesMalformedRequests(String json, String message) {
    String whole = json.replace("IN ", "{\"inputs\": [{\"name\": \"a\", \"shape\": ").replace("DT ", "\"datatype\": ");
    assertThatThrownBy(() -> parse(whole)).isInstanceOf(InvalidInput.class).hasMessageContaining(message);
  }

  @Test
  void refusesBytesThatNoInputClaims() {
    assertThatThrownBy(() -> InferenceRequest.parse("{}abc".getBytes(), 2)).hasMessageContaining("3 bytes follow");
    ByteBuffer text = ByteBuffer.allocate(6).order(ByteOrder.LITTLE_ENDIAN).putInt(3).flip();
    assertThatThrownBy(() -> InferenceTensor.ofRaw("t", Type.BYTES, new long[] {1}, text))
        .hasMessageContaining("longer than the data");
    assertThatThrownBy(() -> InferenceTensor.ofRaw("t", Type.FP32, new long[] {1}, ByteBuffer.allocate(5)))
        .hasMessageContaining("5 bytes");
  }

  @Test
  void readsEveryTypeInBinaryForm() {
    ByteBuffer ones = ByteBuffer.allocate(8).putLong(-1).flip();
    for (Type type : List.of(Type.UINT8, Type.UINT16, Type.UINT32, Type.UINT64)) {
      assertThat(InferenceTensor.ofRaw("t", type, new long[] {8L * 8 / bits(type)}, ones).number(0))
          .isEqualTo(Math.pow(2, bits(type)) - 1);
    }
    for (Type type : List.of(Type.INT8, Type.INT16, Type.INT32, Type.INT64)) {
      assertThat(InferenceTensor.ofRaw("t", type, new long[] {8L * 8 / bits(type)}, ones).number(0)).isEqualTo(-1);
    }
    ByteBuffer pi = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putDouble(Math.PI).flip();
    assertThat(InferenceTensor.ofRaw("t", Type.FP64, new long[] {1, 1}, pi).number(0)).isEqualTo(Math.PI);
  }

  private static int bits(Type type) {
    return Integer.parseInt(type.name().replaceAll("\\D", ""));
  }
}
