package io.regatta.protocol.call;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import io.vertx.grpc.common.GrpcMessageDecoder;
import io.vertx.grpc.common.GrpcMessageEncoder;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.ServiceName;
import io.vertx.grpc.reflection.v1.ErrorResponse;
import io.vertx.grpc.reflection.v1.ExtensionNumberResponse;
import io.vertx.grpc.reflection.v1.FileDescriptorResponse;
import io.vertx.grpc.reflection.v1.ListServiceResponse;
import io.vertx.grpc.reflection.v1.ServerReflectionProto;
import io.vertx.grpc.reflection.v1.ServerReflectionRequest;
import io.vertx.grpc.reflection.v1.ServerReflectionResponse;
import io.vertx.grpc.reflection.v1.ServiceResponse;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * gRPC's reflection service: a client without our {@code .proto} files learns services and messages of a port. Answers any
 * number of requests in one call; that of vertx-grpc-reflection ends the call after the first. Older clients call it
 * {@code v1alpha}, with the same messages. Used on the event loop of its port.
 */
final class Reflection {
  private static final ServiceDescriptor DESCRIPTOR = ServerReflectionProto.getDescriptor().findServiceByName("ServerReflection");

  private final GrpcCalls calls;

  private Reflection(GrpcCalls calls) {
    this.calls = calls;
  }

  static void bind(GrpcCalls calls) {
    Reflection reflection = new Reflection(calls);
    GrpcCalls.Service service = calls.service(DESCRIPTOR, () -> true);
    for (String version : new String[] {"grpc.reflection.v1", "grpc.reflection.v1alpha"}) {
      service.each(ServiceMethod.<ServerReflectionRequest, ServerReflectionResponse>server(
          ServiceName.create(version, "ServerReflection"), "ServerReflectionInfo", GrpcMessageEncoder.encoder(),
          GrpcMessageDecoder.decoder(ServerReflectionRequest.newBuilder())), reflection::answer);
    }
  }

  private ServerReflectionResponse answer(ServerReflectionRequest request) {
    ServerReflectionResponse.Builder answer = ServerReflectionResponse.newBuilder().setValidHost(request.getHost())
        .setOriginalRequest(request);
    switch (request.getMessageRequestCase()) {
      case LIST_SERVICES -> answer.setListServicesResponse(list());
      case FILE_BY_FILENAME -> file(answer, files().get(request.getFileByFilename()), "file " + request.getFileByFilename());
      case FILE_CONTAINING_SYMBOL -> file(answer, symbols().get(request.getFileContainingSymbol()),
          "symbol " + request.getFileContainingSymbol());
      case FILE_CONTAINING_EXTENSION -> file(answer, null, "extension of "
          + request.getFileContainingExtension().getContainingType()); // proto3 has none
      case ALL_EXTENSION_NUMBERS_OF_TYPE -> {
        if (symbols().containsKey(request.getAllExtensionNumbersOfType())) {
          answer.setAllExtensionNumbersResponse(ExtensionNumberResponse.newBuilder()
              .setBaseTypeName(request.getAllExtensionNumbersOfType()));
        } else {
          file(answer, null, "type " + request.getAllExtensionNumbersOfType());
        }
      }
      default -> answer.setErrorResponse(ErrorResponse.newBuilder().setErrorCode(GrpcStatus.INVALID_ARGUMENT.code)
          .setErrorMessage("the request asks for nothing that reflection knows"));
    }
    return answer.build();
  }

  private ListServiceResponse list() {
    ListServiceResponse.Builder all = ListServiceResponse.newBuilder();
    calls.services().keySet().forEach(service -> all.addService(ServiceResponse.newBuilder().setName(service.getFullName())));
    return all.build();
  }

  /** Adds the file and all that it imports, or an error that it is not known. */
  private static void file(ServerReflectionResponse.Builder answer, FileDescriptor file, String wanted) {
    if (file == null) {
      answer.setErrorResponse(ErrorResponse.newBuilder().setErrorCode(GrpcStatus.NOT_FOUND.code)
          .setErrorMessage("there is no " + wanted + " at this port"));
      return;
    }
    Map<String, FileDescriptor> all = new LinkedHashMap<>();
    withImports(file, all);
    FileDescriptorResponse.Builder files = FileDescriptorResponse.newBuilder();
    all.values().forEach(each -> files.addFileDescriptorProto(each.toProto().toByteString()));
    answer.setFileDescriptorResponse(files);
  }

  private static void withImports(FileDescriptor file, Map<String, FileDescriptor> all) {
    if (all.putIfAbsent(file.getName(), file) == null) {
      file.getDependencies().forEach(each -> withImports(each, all));
    }
  }

  private Map<String, FileDescriptor> files() {
    Map<String, FileDescriptor> all = new LinkedHashMap<>();
    calls.services().keySet().forEach(service -> withImports(service.getFile(), all));
    return all;
  }

  /** Returns services, methods, messages and enums by their full names. */
  private Map<String, FileDescriptor> symbols() {
    Map<String, FileDescriptor> all = new HashMap<>();
    for (FileDescriptor file : files().values()) {
      for (ServiceDescriptor service : file.getServices()) {
        all.put(service.getFullName(), file);
        for (MethodDescriptor method : service.getMethods()) {
          all.put(method.getFullName(), file);
        }
      }
      file.getMessageTypes().forEach(message -> add(message, all));
      file.getEnumTypes().forEach(type -> add(type, all));
    }
    return all;
  }

  private static void add(Descriptor message, Map<String, FileDescriptor> all) {
    all.put(message.getFullName(), message.getFile());
    message.getNestedTypes().forEach(nested -> add(nested, all));
    message.getEnumTypes().forEach(type -> add(type, all));
  }

  private static void add(EnumDescriptor type, Map<String, FileDescriptor> all) {
    all.put(type.getFullName(), type.getFile());
  }
}
