//! The cars a demo dealership trades in. Every row must decode in NHTSA's vPIC to the make, model and
//! each year it names; `scripts/judges/vins.py` is the judge of that.

/// One kind of car over a run of model years.
pub(super) struct Template {
    pub(super) number: Number,
    pub(super) car: Car,
    pub(super) build: Build,
    /// List price of the last year, in whole dollars.
    pub(super) msrp: i64,
}

/// What its VINs are made of: positions 1 to 8, position 11, and the years position 10 may say.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) &'static str, pub(super) char, pub(super) u16, pub(super) u16);

/// Make, model, trim, body style, doors.
#[derive(Clone, Copy)]
pub(super) struct Car(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) u8,
);

/// Engine, transmission, drivetrain, fuel.
#[derive(Clone, Copy)]
pub(super) struct Build(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
);

const fn row(number: Number, car: Car, build: Build, msrp: i64) -> Template {
    Template { number, car, build, msrp }
}

#[rustfmt::skip]
pub(super) const CATALOGUE: &[Template] = &[
    row(Number("2T3P1RFV", 'C', 2019, 2024), Car("Toyota", "RAV4", "XLE", "crossover", 4), Build("2.5L I4", "automatic", "awd", "gasoline"), 31_900),
    row(Number("1FTEW1EP", 'F', 2018, 2024), Car("Ford", "F-150", "XLT", "pickup", 4), Build("2.7L V6 turbo", "automatic", "four_wd", "gasoline"), 51_400),
    row(Number("1HGCV1F3", 'A', 2018, 2022), Car("Honda", "Accord", "Sport", "sedan", 4), Build("1.5L I4 turbo", "cvt", "fwd", "gasoline"), 29_100),
    row(Number("5YJ3E1EA", 'F', 2019, 2022), Car("Tesla", "Model 3", "Standard Range Plus", "sedan", 4), Build("Single electric motor", "direct_drive", "rwd", "electric"), 44_900),
    row(Number("1C4RJFBG", 'C', 2016, 2021), Car("Jeep", "Grand Cherokee", "Limited", "suv", 4), Build("3.6L V6", "automatic", "four_wd", "gasoline"), 43_700),
    row(Number("1GCUDDED", 'Z', 2022, 2024), Car("Chevrolet", "Silverado 1500", "LT", "pickup", 4), Build("5.3L V8", "automatic", "four_wd", "gasoline"), 54_200),
    row(Number("2HKRW2H8", 'H', 2017, 2022), Car("Honda", "CR-V", "EX-L", "crossover", 4), Build("1.5L I4 turbo", "cvt", "awd", "gasoline"), 33_600),
    row(Number("4T1C11AK", 'U', 2020, 2024), Car("Toyota", "Camry", "LE", "sedan", 4), Build("2.5L I4", "automatic", "fwd", "gasoline"), 27_800),
    row(Number("4S4BTACC", '3', 2020, 2024), Car("Subaru", "Outback", "Premium", "wagon", 4), Build("2.5L flat-4", "cvt", "awd", "gasoline"), 32_400),
    row(Number("5XYP5DHC", 'G', 2020, 2024), Car("Kia", "Telluride", "SX", "suv", 4), Build("3.8L V6", "automatic", "awd", "gasoline"), 50_300),
    row(Number("1FMSK8DH", 'G', 2020, 2024), Car("Ford", "Explorer", "XLT", "suv", 4), Build("2.3L I4 turbo", "automatic", "four_wd", "gasoline"), 43_800),
    row(Number("KM8JBCAE", 'U', 2022, 2024), Car("Hyundai", "Tucson", "SEL", "crossover", 4), Build("2.5L I4", "automatic", "awd", "gasoline"), 31_300),
    row(Number("5TDYRKEC", 'S', 2021, 2024), Car("Toyota", "Sienna", "XLE", "minivan", 4), Build("2.5L I4 hybrid", "cvt", "fwd", "hybrid"), 44_600),
    row(Number("1N4BL4DV", 'C', 2019, 2024), Car("Nissan", "Altima", "SV", "sedan", 4), Build("2.5L I4", "cvt", "fwd", "gasoline"), 27_200),
    row(Number("1FA6P8CF", '5', 2018, 2024), Car("Ford", "Mustang", "GT", "coupe", 2), Build("5.0L V8", "manual", "rwd", "gasoline"), 44_100),
    row(Number("3VV3B7AX", 'M', 2018, 2024), Car("Volkswagen", "Tiguan", "SE", "crossover", 4), Build("2.0L I4 turbo", "automatic", "fwd", "gasoline"), 31_800),
    row(Number("5UX53DP0", '9', 2022, 2024), Car("BMW", "X3", "xDrive30i", "suv", 4), Build("2.0L I4 turbo", "automatic", "awd", "gasoline"), 49_900),
    row(Number("1C6SRFFT", 'N', 2019, 2024), Car("Ram", "1500", "Big Horn", "pickup", 4), Build("5.7L V8", "automatic", "four_wd", "gasoline"), 52_700),
    row(Number("JM3KFBDM", '0', 2018, 2021), Car("Mazda", "CX-5", "Grand Touring", "crossover", 4), Build("2.5L I4", "automatic", "awd", "gasoline"), 32_200),
    row(Number("7SAYGDEE", 'F', 2022, 2024), Car("Tesla", "Model Y", "Long Range", "crossover", 4), Build("Dual electric motors", "direct_drive", "awd", "electric"), 50_500),
    row(Number("3TMCZ5AN", 'M', 2019, 2023), Car("Toyota", "Tacoma", "SR5", "pickup", 4), Build("3.5L V6", "automatic", "four_wd", "gasoline"), 39_400),
    row(Number("5FNRL6H9", 'B', 2018, 2024), Car("Honda", "Odyssey", "Elite", "minivan", 4), Build("3.5L V6", "automatic", "fwd", "gasoline"), 51_200),
    row(Number("1C4HJXEN", 'W', 2018, 2024), Car("Jeep", "Wrangler", "Unlimited Sahara", "suv", 4), Build("3.6L V6", "automatic", "four_wd", "gasoline"), 49_500),
    row(Number("3GNAXUEV", 'S', 2019, 2024), Car("Chevrolet", "Equinox", "LT", "crossover", 4), Build("1.5L I4 turbo", "automatic", "awd", "gasoline"), 31_600),
    row(Number("19XFC2F7", 'E', 2016, 2020), Car("Honda", "Civic", "EX", "sedan", 4), Build("2.0L I4", "cvt", "fwd", "gasoline"), 24_200),
    row(Number("1N4AZ1CV", 'C', 2020, 2024), Car("Nissan", "Leaf", "SV", "hatchback", 4), Build("Single electric motor", "direct_drive", "fwd", "electric"), 36_200),
    row(Number("WA1BAAFY", '2', 2021, 2024), Car("Audi", "Q5", "Premium Plus", "suv", 4), Build("2.0L I4 turbo", "dual_clutch", "awd", "gasoline"), 51_800),
    row(Number("2C4RC1BG", 'R', 2018, 2024), Car("Chrysler", "Pacifica", "Touring L", "minivan", 4), Build("3.6L V6", "automatic", "fwd", "gasoline"), 42_300),
    row(Number("1FATP8UH", '5', 2018, 2023), Car("Ford", "Mustang", "EcoBoost Convertible", "convertible", 2), Build("2.3L I4 turbo", "automatic", "rwd", "gasoline"), 37_600),
    row(Number("2T3RWRFV", 'C', 2019, 2024), Car("Toyota", "RAV4", "XLE Hybrid", "crossover", 4), Build("2.5L I4 hybrid", "cvt", "awd", "hybrid"), 33_500),
    row(Number("1GNSKNKD", 'R', 2021, 2024), Car("Chevrolet", "Tahoe", "LT", "suv", 4), Build("5.3L V8", "automatic", "four_wd", "gasoline"), 66_900),
    row(Number("5NPEG4JA", 'H', 2020, 2024), Car("Hyundai", "Sonata", "SE", "sedan", 4), Build("2.5L I4", "automatic", "fwd", "gasoline"), 26_100),
    row(Number("1FT7W2BT", 'E', 2019, 2024), Car("Ford", "F-250", "XLT", "pickup", 4), Build("6.7L V8 turbo diesel", "automatic", "four_wd", "diesel"), 68_300),
    row(Number("5N1BT3BB", 'C', 2021, 2024), Car("Nissan", "Rogue", "SV", "crossover", 4), Build("1.5L I3 turbo", "cvt", "awd", "gasoline"), 32_700),
    row(Number("55SWF8DB", 'U', 2019, 2021), Car("Mercedes-Benz", "C-Class", "C300", "sedan", 4), Build("2.0L I4 turbo", "automatic", "rwd", "gasoline"), 43_900),
    row(Number("JF2SKASC", 'H', 2019, 2021), Car("Subaru", "Forester", "Limited", "crossover", 4), Build("2.5L flat-4", "cvt", "awd", "gasoline"), 32_100),
    row(Number("3FMTK3SU", 'M', 2021, 2024), Car("Ford", "Mustang Mach-E", "Premium", "crossover", 4), Build("Dual electric motors", "direct_drive", "awd", "electric"), 52_900),
    row(Number("5YFS4MCE", 'P', 2020, 2024), Car("Toyota", "Corolla", "SE", "sedan", 4), Build("2.0L I4", "cvt", "fwd", "gasoline"), 24_900),
    row(Number("1C4JJXP6", 'W', 2021, 2024), Car("Jeep", "Wrangler", "Sahara 4xe", "suv", 4), Build("2.0L I4 turbo plug-in hybrid", "automatic", "four_wd", "plug_in_hybrid"), 58_400),
    row(Number("1G1ZD5ST", 'F', 2018, 2024), Car("Chevrolet", "Malibu", "LT", "sedan", 4), Build("1.5L I4 turbo", "cvt", "fwd", "gasoline"), 28_400),
    row(Number("5TDGZRBH", 'S', 2020, 2022), Car("Toyota", "Highlander", "XLE", "suv", 4), Build("3.5L V6", "automatic", "awd", "gasoline"), 43_200),
    row(Number("3VW6T7AU", 'M', 2019, 2021), Car("Volkswagen", "Golf GTI", "SE", "hatchback", 4), Build("2.0L I4 turbo", "dual_clutch", "fwd", "gasoline"), 34_600),
    row(Number("2T2BZMCA", 'C', 2016, 2019), Car("Lexus", "RX", "350", "suv", 4), Build("3.5L V6", "automatic", "awd", "gasoline"), 47_300),
    row(Number("1FTBR1Y8", 'K', 2019, 2024), Car("Ford", "Transit", "250 Low Roof", "van", 3), Build("3.5L V6", "automatic", "rwd", "gasoline"), 48_600),
    row(Number("KM8KRDAF", 'U', 2022, 2024), Car("Hyundai", "Ioniq 5", "Limited", "crossover", 4), Build("Dual electric motors", "direct_drive", "awd", "electric"), 57_200),
    row(Number("1HGCY1F3", 'A', 2023, 2024), Car("Honda", "Accord", "EX", "sedan", 4), Build("1.5L I4 turbo", "cvt", "fwd", "gasoline"), 31_000),
    row(Number("1GNSKBKC", 'R', 2016, 2020), Car("Chevrolet", "Tahoe", "LT", "suv", 4), Build("5.3L V8", "automatic", "four_wd", "flex_fuel"), 58_700),
    row(Number("JM1NDAD7", '0', 2018, 2024), Car("Mazda", "MX-5 Miata", "Grand Touring", "convertible", 2), Build("2.0L I4", "manual", "rwd", "gasoline"), 35_200),
    row(Number("1C4RJHBG", 'C', 2022, 2024), Car("Jeep", "Grand Cherokee", "Limited", "suv", 4), Build("3.6L V6", "automatic", "four_wd", "gasoline"), 49_100),
    row(Number("JTDKARFP", '3', 2018, 2020), Car("Toyota", "Prius Prime", "Premium", "hatchback", 4), Build("1.8L I4 plug-in hybrid", "cvt", "fwd", "plug_in_hybrid"), 30_300),
    row(Number("5UXCR6C0", '9', 2020, 2023), Car("BMW", "X5", "xDrive40i", "suv", 4), Build("3.0L I6 turbo", "automatic", "awd", "gasoline"), 66_400),
    row(Number("4T1K61AK", 'U', 2020, 2024), Car("Toyota", "Camry", "XSE", "sedan", 4), Build("2.5L I4", "automatic", "fwd", "gasoline"), 33_300),
    row(Number("1GCUYDED", 'Z', 2019, 2021), Car("Chevrolet", "Silverado 1500", "LT", "pickup", 4), Build("5.3L V8", "automatic", "four_wd", "gasoline"), 49_300),
    row(Number("1FMCU9G6", 'U', 2020, 2022), Car("Ford", "Escape", "SE", "crossover", 4), Build("1.5L I3 turbo", "automatic", "awd", "gasoline"), 30_400),
    row(Number("3C6UR5DL", 'G', 2019, 2024), Car("Ram", "2500", "Big Horn", "pickup", 4), Build("6.7L I6 turbo diesel", "automatic", "four_wd", "diesel"), 67_500),
    row(Number("2HKRW2H5", 'H', 2017, 2022), Car("Honda", "CR-V", "EX", "crossover", 4), Build("1.5L I4 turbo", "cvt", "awd", "gasoline"), 31_000),
    row(Number("KM8J3CA4", 'U', 2017, 2021), Car("Hyundai", "Tucson", "SEL", "crossover", 4), Build("2.0L I4", "automatic", "awd", "gasoline"), 27_000),
    row(Number("1G1FY6S0", '4', 2019, 2022), Car("Chevrolet", "Bolt EV", "LT", "hatchback", 4), Build("Single electric motor", "direct_drive", "fwd", "electric"), 34_500),
    row(Number("W1KZF8DB", 'A', 2020, 2023), Car("Mercedes-Benz", "E-Class", "E350", "sedan", 4), Build("2.0L I4 turbo", "automatic", "rwd", "gasoline"), 57_800),
    row(Number("5XYRKDLF", 'G', 2021, 2024), Car("Kia", "Sorento", "SX", "suv", 4), Build("2.5L I4 turbo", "dual_clutch", "awd", "gasoline"), 42_600),
    row(Number("3C4NJDCB", 'T', 2018, 2022), Car("Jeep", "Compass", "Limited", "crossover", 4), Build("2.4L I4", "automatic", "four_wd", "gasoline"), 32_500),
    row(Number("19XFL2H8", 'N', 2022, 2024), Car("Honda", "Civic", "Sport", "hatchback", 4), Build("2.0L I4", "cvt", "fwd", "gasoline"), 26_900),
    row(Number("1GTU9DED", 'Z', 2019, 2021), Car("GMC", "Sierra 1500", "SLT", "pickup", 4), Build("5.3L V8", "automatic", "four_wd", "gasoline"), 53_400),
    row(Number("3VW7M7BU", 'M', 2022, 2024), Car("Volkswagen", "Jetta", "SE", "sedan", 4), Build("1.5L I4 turbo", "automatic", "fwd", "gasoline"), 25_700),
    row(Number("3VW2B7AJ", 'M', 2016, 2018), Car("Volkswagen", "Jetta", "S", "sedan", 4), Build("1.4L I4 turbo", "manual", "fwd", "gasoline"), 19_800),
    row(Number("WBA5R1C5", 'A', 2021, 2022), Car("BMW", "330i", "Sport Line", "sedan", 4), Build("2.0L I4 turbo", "automatic", "rwd", "gasoline"), 43_300),
    row(Number("2C4RC1N7", 'R', 2019, 2021), Car("Chrysler", "Pacifica", "Hybrid Limited", "minivan", 4), Build("3.6L V6 plug-in hybrid", "cvt", "fwd", "plug_in_hybrid"), 47_900),
    row(Number("1G1FF3D7", '0', 2018, 2024), Car("Chevrolet", "Camaro", "1SS", "convertible", 2), Build("6.2L V8", "automatic", "rwd", "gasoline"), 49_700),
    row(Number("JTDBVRBD", 'A', 2016, 2020), Car("Toyota", "Mirai", "Base", "sedan", 4), Build("Fuel cell electric motor", "direct_drive", "fwd", "hydrogen"), 58_500),
    row(Number("5TFJA5DB", 'X', 2022, 2024), Car("Toyota", "Tundra", "Limited", "pickup", 4), Build("3.4L V6 turbo", "automatic", "four_wd", "gasoline"), 60_200),
    row(Number("5FNYF6H5", 'B', 2016, 2022), Car("Honda", "Pilot", "EX-L", "suv", 4), Build("3.5L V6", "automatic", "awd", "gasoline"), 42_800),
];
