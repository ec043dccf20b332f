package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.request.InferenceModel;
import io.regatta.predictor.request.InferenceRequest;
import io.regatta.predictor.request.InferenceTensor;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * The answers of the Open Inference Protocol that do not depend on the transport. The model has the name of its job;
 * its version is the step of training. Any thread.
 */
final class InferenceService {

  static final String SERVER = "regatta";
  static final String PLATFORM = "regatta_djl";
  static final List<String> EXTENSIONS = List.of("binary_tensor_data");

  /** A model, or a version, that is not served here. */
  static final class NotServed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotServed(String message) {
      super(message, null, false, false);
    }
  }

  private final Predictor predictor;
  private final Optional<ImageRequests> images;
  private final BooleanSupplier ready;
  private final InferenceModel model;

  InferenceService(Predictor predictor, Optional<ImageRequests> images, BooleanSupplier ready) {
    this.predictor = predictor;
    this.images = images;
    this.ready = ready;
    model = predictor.inference();
  }

  boolean isReady() {
    return ready.getAsBoolean();
  }

  String name() {
    return predictor.name();
  }

  String version() {
    return Long.toString(predictor.source().step());
  }

  static String serverVersion() {
    String version = InferenceService.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }

  InferenceModel model() {
    return model;
  }

  /** Returns the tensors of an answer. */
  List<InferenceModel.Spec> outputs() {
    return List.of(new InferenceModel.Spec(InferenceModel.SCORES, InferenceTensor.Type.FP32,
        List.of(-1L, (long) predictor.outputs())));
  }

  /**
   * Checks that a model is served.
   *
   * @param version empty: any
   */
  void requireServed(String name, String version) {
    if (!name.equals(name())) {
      throw new NotServed("there is no model " + name + " here, only " + name());
    }
    if (!version.isEmpty() && !version.equals(version())) {
      throw new NotServed("version " + version + " of model " + name + " is not served; the present one is "
          + version());
    }
  }

  /** Predicts the examples of a request; see {@link Predictor#predict(List)}. */
  CompletableFuture<Prediction> infer(InferenceRequest request) {
    for (String output : request.outputs()) {
      if (!output.equals(InferenceModel.SCORES)) {
        throw new InvalidInput("this model has no output " + output + ", only " + InferenceModel.SCORES);
      }
    }
    InferenceModel.Inputs inputs = model.examples(request.inputs());
    return inputs.images() != null ? images.orElseThrow().predict(inputs.images())
        : predictor.predict(inputs.examples());
  }
}
