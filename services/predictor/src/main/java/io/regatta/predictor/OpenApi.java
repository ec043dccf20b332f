package io.regatta.predictor;

import io.regatta.data.feature.RequestRows;
import io.regatta.predictor.request.InferenceRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The OpenAPI 3.1 document of a predictor's HTTP paths, made of the columns of its model. Stateless. */
final class OpenApi {

  private static final String JSON = "application/json";
  private static final String EXAMPLE_REF = "#/components/schemas/Example";

  private OpenApi() {}

  static JsonObject document(Predictor predictor) {
    JsonObject paths = new JsonObject()
        .put("/predict", new JsonObject().put("post", predict(predictor)))
        .put("/model", get("The run and step of training of the present values", object("from", "run", "step", "dense",
            "slots")))
        .put("/health", get("Whether the process works", new JsonObject().put("type", "object")))
        .put("/ready", get("Whether the model is served", new JsonObject().put("type", "object")))
        .put("/v2", get("Metadata of the server (Open Inference Protocol)", object("name", "version", "extensions")))
        .put("/v2/health/live", get("Whether the server lives (Open Inference Protocol)", object("live")))
        .put("/v2/health/ready", get("Whether the model is served (Open Inference Protocol)", object("ready")))
        .put("/v2/models/" + predictor.name(),
            get("Names, types and shapes of the model's tensors (Open Inference Protocol)",
            object("name", "versions", "platform", "inputs", "outputs")))
        .put("/v2/models/" + predictor.name() + "/infer", new JsonObject().put("post", infer(predictor)));
    return new JsonObject().put("openapi", "3.1.0")
        .put("info", new JsonObject().put("title", "Predictions of " + predictor.name())
            .put("version", InferenceService.serverVersion()))
        .put("paths", paths)
        .put("components", new JsonObject().put("schemas", schemas(predictor))
            .put("securitySchemes", new JsonObject().put("token", new JsonObject().put("type", "http")
                .put("scheme", "bearer"))))
        .put("security", new JsonArray().add(new JsonObject()).add(new JsonObject().put("token", new JsonArray())));
  }

  private static JsonObject predict(Predictor predictor) {
    JsonObject content = new JsonObject();
    if (predictor.rows().isPresent()) {
      JsonObject example = new JsonObject().put("$ref", EXAMPLE_REF);
      content.put(JSON, schema(new JsonObject().put("oneOf", new JsonArray().add(example)
              .add(new JsonObject().put("type", "array").put("items", example)))))
          .put("application/x-ndjson", schema(text("One JSON object per line")))
          .put("text/csv", schema(text("A table whose first row names the columns")))
          .put("text/tab-separated-values", schema(text("A table whose first row names the columns")));
    } else {
      content.put("text/plain", schema(text("One example per line, in the format " + predictor.input().name())));
    }
    if (predictor.images().isPresent()) {
      JsonObject image = new JsonObject().put("type", "string").put("format", "binary");
      List.of("image/png", "image/jpeg").forEach(type -> content.put(type, schema(image)));
    }
    return operation("Predicts examples", content, "Scores");
  }

  private static JsonObject infer(Predictor predictor) {
    JsonObject content = new JsonObject().put(JSON, schema(ref("InferenceRequest")));
    return operation("Predicts the examples in tensors (Open Inference Protocol)", content, "InferenceResponse");
  }

  private static JsonObject operation(String summary, JsonObject content, String answer) {
    JsonObject responses = new JsonObject().put("200", response("The scores of the examples, in their order",
        ref(answer)));
    String[][] errors = {{"400", "An example is malformed; the error names it"}, {"401", "A token is needed"},
        {"408", "The request has not arrived in time"}, {"411", "The request does not give its length"},
        {"413", "The request is too large"}, {"415", "The request is compressed"},
            {"503", "Too much waits; try again later"}};
    for (String[] error : errors) {
      responses.put(error[0], response(error[1], ref("Error")));
    }
    return new JsonObject().put("summary", summary)
        .put("requestBody", new JsonObject().put("required", true).put("content", content)).put("responses", responses);
  }

  private static JsonObject get(String summary, JsonObject schema) {
    return new JsonObject().put("get", new JsonObject().put("summary", summary)
        .put("responses", new JsonObject().put("200", response(summary, schema))));
  }

  private static JsonObject schemas(Predictor predictor) {
    JsonObject number = new JsonObject().put("type", "number");
    JsonObject scores = predictor.outputs() == 1 ? array(number) : array(array(number));
    JsonObject schemas = new JsonObject()
        .put("Scores", object("scores", "step").put("properties", new JsonObject().put("scores", scores)
            .put("step", new JsonObject().put("type", "integer"))))
        .put("Error", object("error").put("properties", new JsonObject().put("error", new JsonObject()
            .put("type", "string"))))
        .put("InferenceRequest", object("inputs").put("properties", new JsonObject()
            .put("id", new JsonObject().put("type", "string")).put("inputs", array(tensor(predictor)))))
        .put("InferenceResponse", object("model_name", "outputs").put("properties", new JsonObject()
            .put("model_name", new JsonObject().put("type", "string")).put("model_version", new JsonObject()
                .put("type", "string"))
            .put("id", new JsonObject().put("type", "string"))
                .put("outputs", array(object("name", "datatype", "shape", "data")))));
    predictor.rows().ifPresent(rows -> schemas.put("Example", example(rows)));
    return schemas;
  }

  private static JsonObject tensor(Predictor predictor) {
    JsonArray names = new JsonArray();
    predictor.inference().inputs().forEach(spec -> names.add(spec.name()));
    return object("name", "datatype", "shape").put("properties", new JsonObject()
        .put("name", new JsonObject().put("type", "string").put("enum", names))
        .put("datatype", new JsonObject().put("type", "string"))
        .put("shape", array(new JsonObject().put("type", "integer")))
        .put("data", new JsonObject().put("type", "array")));
  }

  /** Returns the schema of an example. A column may be null or absent, which is a missing value; others are ignored. */
  private static JsonObject example(RequestRows rows) {
    JsonObject columns = new JsonObject();
    for (RequestRows.Column column : rows.columns()) {
      JsonArray types = switch (column.type()) {
        case NUMBER -> new JsonArray().add("number").add("string").add("null");
        case TEXT -> new JsonArray().add("string").add("number").add("boolean").add("null");
        case TEXTS -> new JsonArray().add("array").add("string").add("null");
      };
      JsonObject schema = new JsonObject().put("type", types);
      columns.put(column.name(), column.type() == RequestRows.Type.TEXTS
          ? schema.put("items", new JsonObject().put("type", new JsonArray().add("string").add("number"))) : schema);
    }
    return new JsonObject().put("type", "object").put("properties", columns).put("minProperties", 1);
  }

  private static JsonObject object(String... required) {
    return new JsonObject().put("type", "object").put("required", new JsonArray(List.of(required)));
  }

  private static JsonObject array(JsonObject of) {
    return new JsonObject().put("type", "array").put("items", of);
  }

  private static JsonObject text(String description) {
    return new JsonObject().put("type", "string").put("description", description);
  }

  private static JsonObject schema(JsonObject schema) {
    return new JsonObject().put("schema", schema);
  }

  private static JsonObject ref(String name) {
    return new JsonObject().put("$ref", "#/components/schemas/" + name);
  }

  private static JsonObject response(String description, JsonObject schema) {
    return new JsonObject().put("description", description).put("content", new JsonObject().put(JSON, schema(schema)));
  }
}
