import com.android.apksig.ApkVerifier;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;

/** Verifies the APKs that come as lines of a path and, behind a tab, the API level to verify from: line, verdict, schemes, certificates, errors, separated by tabs. */
public class Oracle {
  public static void main(String[] args) throws Exception {
    try {
      Security.addProvider((Provider) Class.forName("org.bouncycastle.jce.provider.BouncyCastleProvider").getDeclaredConstructor().newInstance());
    } catch (ClassNotFoundException e) {
      // Without it RSA-PSS is not known by the name that the library asks for.
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      List<String> schemes = new ArrayList<>();
      List<String> certificates = new ArrayList<>();
      String verdict;
      String errors = "";
      try {
        String[] fields = line.split("\t");
        ApkVerifier.Builder builder = new ApkVerifier.Builder(new File(fields[0]));
        if (fields.length > 1) builder.setMinCheckedPlatformVersion(Integer.parseInt(fields[1]));
        ApkVerifier.Result result = builder.build().verify();
        verdict = String.valueOf(result.isVerified());
        if (result.isVerifiedUsingV1Scheme()) schemes.add("v1");
        if (result.isVerifiedUsingV2Scheme()) schemes.add("v2");
        if (result.isVerifiedUsingV3Scheme()) schemes.add("v3");
        for (X509Certificate c : result.getSignerCertificates()) {
          StringBuilder hex = new StringBuilder();
          for (byte b : MessageDigest.getInstance("SHA-256").digest(c.getEncoded())) hex.append(String.format("%02x", b));
          certificates.add(hex.toString());
        }
        errors = result.getAllErrors().toString();
      } catch (Exception e) {
        // The provider refuses keys of 16384 bits, which devices verify.
        boolean unknown = e instanceof NoSuchAlgorithmException || String.valueOf(e.getMessage()).contains("modulus value out of range");
        verdict = unknown ? "unknown" : "false";
        errors = e.toString();
      }
      System.out.println(String.join("\t", line, verdict, String.join(" ", schemes), String.join(" ", certificates), errors.replaceAll("\\s+", " ")));
    }
  }
}
