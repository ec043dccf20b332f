package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;

import io.regatta.node.address.HostPort;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;

/**
 * The part of etcd's JSON gateway that {@link EtcdStore} uses, over a map: a stand-in where no etcd is installed.
 * {@link EtcdGatewayTest} compares its answers with those recorded from etcd 3.6.16. It has no Raft and no limits. Each
 * member that listens serves the same map. Any thread.
 */
final class EtcdGateway {

  private record Entry(String value, long created, long modified, long version) {}

  private final Map<String, Entry> entries = new HashMap<>();
  private long revision = 1;

  /**
   * Starts a member on loopback; 0: any port. A plain one takes values of the largest size: the servers of a
   * {@link PeerSecurity} limit what a connection without a token may send.
   */
  HttpServer listen(Vertx vertx, int port, PeerSecurity security) {
    HttpServer server = security.hasTls() ? security.server(vertx, new HttpServerOptions()) : vertx.createHttpServer();
    return get(server.requestHandler(this::serve).listen(port, "127.0.0.1"));
  }

  HostPort member(Vertx vertx) {
    return new HostPort("127.0.0.1", listen(vertx, 0, PeerSecurity.NONE).actualPort());
  }

  private void serve(HttpServerRequest request) {
    request.body().onSuccess(body -> {
      JsonObject answer = answer(request.path(), new JsonObject(body));
      int code = answer.getInteger("code", 0);
      request.response().setStatusCode(code == 0 ? 200 : code == 5 ? 404 : 400).end(answer.toBuffer());
    });
  }

  private synchronized JsonObject answer(String path, JsonObject request) {
    JsonObject answer = switch (path) {
      case "/v3/kv/range" -> range(request);
      case "/v3/kv/put" -> put(request);
      case "/v3/kv/deleterange" -> delete(request);
      case "/v3/kv/txn" -> transaction(request);
      default -> error(5, "Not Found");
    };
    return answer.containsKey("code") ? answer
        : answer.put("header", new JsonObject().put("revision", Long.toString(revision)));
  }

  private static JsonObject error(int code, String message) {
    return new JsonObject().put("code", code).put("message", message);
  }

  private static boolean hasNoKey(JsonObject request) {
    return request.getString("key", "").isEmpty();
  }

  private JsonObject range(JsonObject request) {
    if (hasNoKey(request)) {
      return error(3, "etcdserver: key is not provided");
    }
    Entry held = entries.get(request.getString("key"));
    if (held == null) {
      return new JsonObject();
    }
    JsonObject pair = new JsonObject().put("key", request.getString("key")).put("create_revision", "" + held.created)
        .put("mod_revision", "" + held.modified).put("version", "" + held.version);
    if (!held.value.isEmpty()) {
      pair.put("value", held.value);
    }
    return new JsonObject().put("kvs", new JsonArray().add(pair)).put("count", "1");
  }

  private JsonObject put(JsonObject request) {
    if (hasNoKey(request)) {
      return error(3, "etcdserver: key is not provided");
    }
    revision++;
    entries.compute(request.getString("key"), (key, held) -> new Entry(request.getString("value", ""),
        held == null ? revision : held.created, revision, held == null ? 1 : held.version + 1));
    return new JsonObject();
  }

  private JsonObject delete(JsonObject request) {
    if (entries.remove(request.getString("key")) == null) {
      return new JsonObject();
    }
    revision++;
    return new JsonObject().put("deleted", "1");
  }

  private JsonObject transaction(JsonObject request) {
    JsonObject condition = request.getJsonArray("compare").getJsonObject(0);
    Entry held = entries.get(condition.getString("key"));
    if (!condition.getString("mod_revision").equals(held == null ? "0" : "" + held.modified)) {
      return new JsonObject();
    }
    put(request.getJsonArray("success").getJsonObject(0).getJsonObject("request_put"));
    JsonObject header = new JsonObject().put("revision", Long.toString(revision));
    return new JsonObject().put("succeeded", true).put("responses",
        new JsonArray().add(new JsonObject().put("response_put", new JsonObject().put("header", header))));
  }
}
