package io.regatta.predictor;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.predictor.InferenceService.NotServed;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.request.InferenceModel;
import io.regatta.predictor.request.InferenceRequest;
import io.regatta.predictor.request.InferenceTensor;
import io.regatta.predictor.request.InferenceTensor.Type;
import io.regatta.protocol.call.CallRegistry;
import io.regatta.protocol.call.ServerCall;
import io.regatta.protocol.inference.GRPCInferenceServiceGrpcService;
import io.regatta.protocol.inference.InferTensorContents;
import io.regatta.protocol.inference.ModelInferRequest;
import io.regatta.protocol.inference.ModelInferRequest.InferInputTensor;
import io.regatta.protocol.inference.ModelInferResponse;
import io.regatta.protocol.inference.ModelInferResponse.InferOutputTensor;
import io.regatta.protocol.inference.ModelMetadataRequest;
import io.regatta.protocol.inference.ModelMetadataResponse;
import io.regatta.protocol.inference.ModelMetadataResponse.TensorMetadata;
import io.regatta.protocol.inference.ModelReadyRequest;
import io.regatta.protocol.inference.ModelReadyResponse;
import io.regatta.protocol.inference.ServerLiveResponse;
import io.regatta.protocol.inference.ServerMetadataResponse;
import io.regatta.protocol.inference.ServerReadyResponse;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** The Open Inference Protocol over gRPC. Used on the loop of the port. */
final class InferenceCalls {

  private final InferenceService service;
  private final ServedRequests requests;

  InferenceCalls(InferenceService service, ServedRequests requests) {
    this.service = service;
    this.requests = requests;
  }

  /** Adds the methods. */
  void bind(CallRegistry calls) {
    calls.atOnce(GRPCInferenceServiceGrpcService.ServerLive, request -> ServerLiveResponse.newBuilder().setLive(true)
        .build())
        .atOnce(GRPCInferenceServiceGrpcService.ServerReady,
            request -> ServerReadyResponse.newBuilder().setReady(service.isReady()).build())
        .atOnce(GRPCInferenceServiceGrpcService.ServerMetadata, request -> ServerMetadataResponse.newBuilder()
            .setName(InferenceService.SERVER).setVersion(InferenceService.serverVersion())
            .addAllExtensions(InferenceService.EXTENSIONS).build())
        .call(GRPCInferenceServiceGrpcService.ModelReady, this::ready)
        .call(GRPCInferenceServiceGrpcService.ModelMetadata, this::metadata)
        .call(GRPCInferenceServiceGrpcService.ModelInfer, this::infer);
  }

  private Runnable ready(ModelReadyRequest request, ServerCall<ModelReadyRequest, ModelReadyResponse> call) {
    if (isServed(request.getName(), request.getVersion(), call)) {
      call.end(ModelReadyResponse.newBuilder().setReady(service.isReady()).build());
    }
    return () -> { };
  }

  private Runnable metadata(ModelMetadataRequest request, ServerCall<ModelMetadataRequest,
      ModelMetadataResponse> call) {
    if (isServed(request.getName(), request.getVersion(), call)) {
      ModelMetadataResponse.Builder metadata = ModelMetadataResponse.newBuilder().setName(service.name())
          .addVersions(service.version()).setPlatform(InferenceService.PLATFORM);
      service.model().inputs().forEach(spec -> metadata.addInputs(tensor(spec)));
      service.outputs().forEach(spec -> metadata.addOutputs(tensor(spec)));
      call.end(metadata.build());
    }
    return () -> { };
  }

  private static TensorMetadata tensor(InferenceModel.Spec spec) {
    return TensorMetadata.newBuilder().setName(spec.name()).setDatatype(spec.type().name()).addAllShape(spec.shape())
        .build();
  }

  /** Ends the call and returns false if the model is not served here. */
  private boolean isServed(String name, String version, ServerCall<?, ?> call) {
    try {
      service.requireServed(name, version);
      return true;
    } catch (NotServed e) {
      call.fail(GrpcStatus.NOT_FOUND, e.getMessage());
      return false;
    }
  }

  private Runnable infer(ModelInferRequest request, ServerCall<ModelInferRequest, ModelInferResponse> call) {
    if (!isServed(request.getModelName(), request.getModelVersion(), call)) {
      return () -> { };
    }
    boolean raw = request.getRawInputContentsCount() > 0;
    return requests.call(request.getSerializedSize(), call, () -> service.infer(parsed(request, raw)), prediction ->
        answer(request, prediction, raw));
  }

  private static InferenceRequest parsed(ModelInferRequest request, boolean raw) {
    if (raw && request.getRawInputContentsCount() != request.getInputsCount()) {
      throw new InvalidInput("the request has " + request.getInputsCount() + " inputs, but "
          + request.getRawInputContentsCount()
          + " raw_input_contents; give one for each input");
    }
    List<InferenceTensor> inputs = new ArrayList<>(request.getInputsCount());
    for (int i = 0; i < request.getInputsCount(); i++) {
      InferInputTensor input = request.getInputs(i);
      if (raw && input.hasContents()) {
        throw new InvalidInput("input " + input.getName()
            + " has contents beside raw_input_contents; give one of them");
      }
      long[] shape = input.getShapeList().stream().mapToLong(each -> each).toArray();
      Type type = Type.of(input.getName(), input.getDatatype());
      inputs.add(raw ? InferenceTensor.ofRaw(input.getName(), type, shape, request.getRawInputContents(i)
          .asReadOnlyByteBuffer())
          : InferenceTensor.of(input.getName(), type, shape, input.getContents()));
    }
    return new InferenceRequest(request.getId(), inputs,
        request.getOutputsList().stream().map(ModelInferRequest.InferRequestedOutputTensor::getName).toList(), raw);
  }

  private ModelInferResponse answer(ModelInferRequest request, Prediction prediction, boolean raw) {
    float[] scores = prediction.scores();
    InferOutputTensor.Builder output = InferOutputTensor.newBuilder().setName(InferenceModel.SCORES)
        .setDatatype(Type.FP32.name())
        .addShape(scores.length / prediction.outputs()).addShape(prediction.outputs());
    ModelInferResponse.Builder response = ModelInferResponse.newBuilder().setModelName(service.name())
        .setModelVersion(Long.toString(prediction.step())).setId(request.getId());
    if (raw) {
      ByteBuffer bytes = ByteBuffer.allocate(scores.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asFloatBuffer().put(scores);
      response.addRawOutputContents(ByteString.copyFrom(bytes.array()));
    } else {
      InferTensorContents.Builder contents = InferTensorContents.newBuilder();
      for (float score : scores) {
        contents.addFp32Contents(score);
      }
      output.setContents(contents);
    }
    return response.addOutputs(output).build();
  }
}
