package io.regatta.fleet;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The types of one source file by simple name, nested ones included, as the JDK's compiler parses them. */
record JavaSource(Map<String, Type> types) {

  /**
   * One type.
   *
   * @param supertypes simple names of what it extends and implements
   * @param calls names of the methods that each of its methods calls or refers to, in all overloads together
   * @param allCalls the same of the whole type, constructors included
   */
  record Type(Set<String> supertypes, Map<String, Set<String>> calls, Set<String> allCalls) {}

  static JavaSource of(Path file) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task = (JavacTask) compiler.getTask(null, files, null, List.of("-proc:none"), null,
          files.getJavaFileObjects(file));
      Reader reader = new Reader();
      for (CompilationUnitTree unit : task.parse()) {
        reader.scan(unit, null);
      }
      return new JavaSource(reader.types);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Collects the types; the argument is the one that is being read. */
  private static final class Reader extends TreeScanner<Void, Type> {

    private final Map<String, Type> types = new HashMap<>();
    private Set<String> ofMethod = new HashSet<>();

    @Override
    public Void visitClass(ClassTree tree, Type around) {
      if (tree.getSimpleName().isEmpty()) { // anonymous: its calls are those of the method and the type around it
        return super.visitClass(tree, new Type(Set.of(), new HashMap<>(), around.allCalls()));
      }
      Set<String> supertypes = new LinkedHashSet<>();
      if (tree.getExtendsClause() != null) {
        supertypes.add(simpleName(tree.getExtendsClause()));
      }
      tree.getImplementsClause().forEach(of -> supertypes.add(simpleName(of)));
      Type type = new Type(supertypes, new HashMap<>(), new HashSet<>());
      types.put(tree.getSimpleName().toString(), type);
      return super.visitClass(tree, type);
    }

    @Override
    public Void visitMethod(MethodTree tree, Type type) {
      Set<String> outer = ofMethod;
      String name = tree.getName().toString();
      ofMethod = type.calls().computeIfAbsent(name, of -> new HashSet<>());
      super.visitMethod(tree, type);
      Set<String> inner = ofMethod;
      ofMethod = outer;
      ofMethod.addAll(inner); // of an anonymous class within a method
      return null;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree tree, Type type) {
      ExpressionTree called = tree.getMethodSelect();
      if (called instanceof IdentifierTree own) {
        called(own.getName().toString(), type);
      } else if (called instanceof MemberSelectTree of) {
        called(of.getIdentifier().toString(), type);
      }
      return super.visitMethodInvocation(tree, type);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree tree, Type type) {
      called(tree.getName().toString(), type);
      return super.visitMemberReference(tree, type);
    }

    private void called(String name, Type type) {
      ofMethod.add(name);
      type.allCalls().add(name);
    }

    private static String simpleName(Tree type) {
      if (type instanceof ParameterizedTypeTree generic) {
        return simpleName(generic.getType());
      }
      return type instanceof MemberSelectTree nested ? nested.getIdentifier().toString() : type.toString();
    }
  }
}
