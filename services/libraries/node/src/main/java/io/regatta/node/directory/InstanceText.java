package io.regatta.node.directory;

import io.regatta.node.directory.Directory.Instance;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** An instance as the small JSON text that stands in the Hazelcast directory, and back. Pure functions, any thread. */
final class InstanceText {

  private InstanceText() {}

  static String encode(Instance i) {
    JsonObject attributes = new JsonObject();
    i.attributes().forEach(attributes::put);
    return new JsonObject().put("service", i.service()).put("id", i.id()).put("index", i.index())
        .put("host", i.host()).put("control_port", i.controlPort()).put("incarnation", i.incarnation())
        .put("attributes", attributes).encode();
  }

  /** Returns the instance of a text that anybody may have written; empty if it is none. */
  static Optional<Instance> read(String text) {
    try {
      return Optional.of(decode(text));
    } catch (RuntimeException e) { // no JSON, or without or with other fields
      return Optional.empty();
    }
  }

  static Instance decode(String text) {
    JsonObject json = new JsonObject(text);
    Map<String, String> attributes = new HashMap<>();
    json.getJsonObject("attributes").forEach(entry -> attributes.put(entry.getKey(), (String) entry.getValue()));
    return new Instance(json.getString("service"), json.getString("id"), json.getInteger("index"),
        json.getString("host"), json.getInteger("control_port"), json.getLong("incarnation"), attributes);
  }
}
