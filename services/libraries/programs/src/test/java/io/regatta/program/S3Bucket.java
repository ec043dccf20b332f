package io.regatta.program;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One bucket that speaks as much of S3 over HTTP as reading needs: HEAD, GET with a range, and ListObjectsV2. What it holds is
 * put in beforehand; signatures are not looked at.
 */
final class S3Bucket implements AutoCloseable {

  private static final Pattern RANGE = Pattern.compile("bytes=([0-9]+)-([0-9]*)");
  private static final String MODIFIED = "Sun, 22 Nov 2026 00:00:00 GMT";

  private final Vertx vertx = Vertx.vertx();
  private final String name;
  private final Map<String, byte[]> objects = new TreeMap<>();
  private final AtomicInteger ranges = new AtomicInteger();
  private final HttpServer server;

  S3Bucket(String name, Path files) throws Exception {
    this.name = name;
    try (Stream<Path> all = Files.list(files)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        objects.put("data/" + file.getFileName(), Files.readAllBytes(file));
      }
    }
    server = get(vertx.createHttpServer().requestHandler(this::answer).listen(0, "127.0.0.1"));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  /** Returns the URI of one of the files. */
  String uri(String file) {
    return "s3x://127.0.0.1:" + server.actualPort() + "/" + name + "/data/" + file;
  }

  /** Returns the number of requests for a part of an object. */
  int ranges() {
    return ranges.get();
  }

  private void answer(HttpServerRequest request) {
    String path = request.path().substring(1);
    if (!path.equals(name) && !path.startsWith(name + "/")) {
      request.response().setStatusCode(404).end();
      return;
    }
    String key = path.length() <= name.length() + 1 ? "" : path.substring(name.length() + 1);
    if (key.isEmpty() && request.method() == HttpMethod.HEAD) {
      request.response().putHeader("x-amz-bucket-region", "us-east-1").end();
    } else if (key.isEmpty()) {
      list(request);
    } else {
      object(request, objects.get(key));
    }
  }

  private void object(HttpServerRequest request, byte[] content) {
    HttpServerResponse response = request.response();
    if (content == null) {
      response.setStatusCode(404).putHeader("content-type", "application/xml");
      response.end(request.method() == HttpMethod.HEAD ? "" : "<Error><Code>NoSuchKey</Code><Message>none</Message></Error>");
      return;
    }
    response.putHeader("etag", '"' + Integer.toHexString(content.length) + '"').putHeader("last-modified", MODIFIED)
        .putHeader("accept-ranges", "bytes").putHeader("content-type", "application/octet-stream");
    if (request.method() == HttpMethod.HEAD) {
      response.putHeader("content-length", String.valueOf(content.length)).end();
      return;
    }
    Matcher range = RANGE.matcher(String.valueOf(request.getHeader("range")));
    if (!range.matches()) {
      response.end(Buffer.buffer(content));
      return;
    }
    ranges.incrementAndGet();
    int from = Integer.parseInt(range.group(1));
    int to = range.group(2).isEmpty() ? content.length : (int) Math.min(content.length, Long.parseLong(range.group(2)) + 1);
    if (from >= content.length) {
      response.setStatusCode(416).end("<Error><Code>InvalidRange</Code><Message>behind the end</Message></Error>");
      return;
    }
    response.setStatusCode(206).putHeader("content-range", "bytes " + from + "-" + (to - 1) + "/" + content.length)
        .end(Buffer.buffer(content).slice(from, to));
  }

  private void list(HttpServerRequest request) {
    String prefix = request.params().contains("prefix") ? request.getParam("prefix") : "";
    String delimiter = request.params().contains("delimiter") ? request.getParam("delimiter") : "";
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>").append(name).append("</Name><Prefix>")
        .append(prefix).append("</Prefix><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>");
    TreeSet<String> directories = new TreeSet<>();
    objects.forEach((key, content) -> {
      int end = key.startsWith(prefix) && !delimiter.isEmpty() ? key.indexOf(delimiter, prefix.length()) : -1;
      if (end >= 0) {
        directories.add(key.substring(0, end + 1));
      } else if (key.startsWith(prefix)) {
        xml.append("<Contents><Key>").append(key).append("</Key><LastModified>2026-11-22T00:00:00.000Z</LastModified><ETag>&quot;1&quot;"
            + "</ETag><Size>").append(content.length).append("</Size><StorageClass>STANDARD</StorageClass></Contents>");
      }
    });
    directories.forEach(directory -> xml.append("<CommonPrefixes><Prefix>").append(directory).append("</Prefix></CommonPrefixes>"));
    request.response().putHeader("content-type", "application/xml").end(xml.append("</ListBucketResult>").toString());
  }

  @Override
  public void close() throws IOException {
    try {
      get(vertx.close());
    } catch (Exception e) {
      throw new IOException(e);
    }
  }
}
